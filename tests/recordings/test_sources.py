"""Which sources make recorded runs stale: those that decide what a run gives, and no others."""

import json
import shutil
from pathlib import Path

import pytest

from tests.recordings import notice
from tests.recordings.sources import ROOT, SUPERVISING, code_of, deciding_sources, sources_digest

CHANGE = "\n\nCHANGED = True\n"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the runtime and of the engine's own sources."""
    for room in ("runtime", "lfx_runner"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", ".venv"))
    return tmp_path


def stale_after(copied: Path, name: str, *, change: str = CHANGE) -> bool:
    """Whether the digest is another one after a change of a file, which is then taken back."""
    path = copied / name
    before = path.read_text(encoding="utf-8")
    sources_digest.cache_clear()
    digest = sources_digest(copied)
    sources_digest.cache_clear()
    path.write_text(before + change, encoding="utf-8")
    changed = sources_digest(copied)
    path.write_text(before, encoding="utf-8")
    return changed != digest


def test_a_change_of_what_decides_a_run_makes_recordings_stale(copied: Path) -> None:
    deciding = [
        *("lfx_runner/execute.py", "lfx_runner/confine/policy.py", "lfx_runner/uv.lock", "runtime/runner.py"),
        *("runtime/preparation.py", "runtime/engine/protocol.py", "runtime/engine/runs/conversation.py"),
        *("runtime/engine/run_results.py", "runtime/guard/interpreter/calls.py", "runtime/sessions/run_messages.py"),
        *("runtime/gateway/encoding.py", "runtime/variables.py", "runtime/egress/policy.py"),
    ]
    assert [name for name in deciding if not stale_after(copied, name)] == []


def test_a_change_of_anything_else_in_the_runtime_leaves_recordings_as_they_are(copied: Path) -> None:
    others = [
        *("runtime/database/schema.py", "runtime/database/migrations/env.py", "runtime/keychain/documents.py"),
        *("runtime/accounts/users.py", "runtime/archive/backup.py", "runtime/langflow/client.py"),
        *("runtime/usage/log.py", "runtime/install/uv.py", "runtime/engine/supervisor.py", "runtime/telemetry.py"),
    ]
    assert [name for name in others if stale_after(copied, name)] == []


def test_prose_alone_leaves_recordings_as_they_are(copied: Path) -> None:
    """Comments and docstrings do not make recordings stale; any other change does."""
    assert not stale_after(copied, "lfx_runner/execute.py", change="\n# a remark\n")
    source = '"""A module."""\n\ndef half(x):\n    """Half of x."""\n    return x / 2  # exact\n'
    assert code_of(source) == code_of("def half(x):\n    return x / 2\n")
    assert code_of(source) != code_of(source.replace("/ 2", "/ 3"))


def test_what_is_named_as_supervising_is_there(copied: Path) -> None:
    """A room that was moved would count as deciding without anybody's notice."""
    assert [name for name in SUPERVISING if not (ROOT / name).exists()] == []
    assert len(deciding_sources()) == len(deciding_sources(copied))


def test_recordings_of_other_sources_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = tmp_path / "runs.jsonl"
    monkeypatch.setattr(notice, "RECORDED", lines)
    for digest, stale in ((sources_digest(), False), ("0" * 16, True)):
        lines.write_text(json.dumps({"sources": digest}) + '\n{"key": "x"}\n', encoding="utf-8")
        assert notice.is_stale() is stale
