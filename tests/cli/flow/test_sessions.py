"""`wirewright flow run --session` and `wirewright flow sessions`, on the real engine."""

from pathlib import Path

import pytest

from tests.cli.conftest import Wirewright
from tests.shared.flow_texts import HISTORY

FIRST = "before:  now: I am Ada\n"


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A file with the spec of a flow that answers with the messages before."""
    path = tmp_path / "history.flow"
    path.write_text(HISTORY, encoding="utf-8")
    return path


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_runs_of_a_session_remember_until_it_is_removed(wirewright: Wirewright, history: Path, tmp_path: Path) -> None:
    def run(file: Path | str, text: str, *more: str, stdin: bytes = b"") -> str:
        done = wirewright("flow", "run", file, "--input", text, *more, stdin=stdin)
        assert done.code == 0, done.err
        return done.out

    assert run(history, "I am Ada", "--session", "s") == FIRST
    assert "User: I am Ada\nAI: " in run(history, "Who?", "--session", "s")
    assert run(history, "I am Ada", "--session", "t") == FIRST
    assert run(history, "I am Ada") == FIRST
    copy = tmp_path / "copy.flow"
    copy.write_text(HISTORY, encoding="utf-8")
    assert run(copy, "I am Ada", "--session", "s") == FIRST
    assert run("-", "I am Ada", "--session", "s", stdin=HISTORY.encode()) == FIRST
    assert "User: I am Ada" in run("-", "Who?", "--session", "s", stdin=HISTORY.encode())

    history.write_text(HISTORY.replace("before: {before}", "earlier: {before}"), encoding="utf-8")
    assert run(history, "Who?", "--session", "s").startswith("earlier: User: I am Ada")

    listed = wirewright("flow", "sessions", "list", history, "--json").json["sessions"]
    assert [(each["session"], each["messages"]) for each in listed] == [("s", 6), ("t", 2)]
    assert wirewright("flow", "sessions", "list", history).out.splitlines()[0].startswith("s  6 messages  ")
    shown = wirewright("flow", "sessions", "show", history, "s")
    assert shown.out.startswith("User: I am Ada\nAI: before:")
    assert wirewright("flow", "sessions", "show", history, "s", "--json").json["messages"][0]["sender"] == "User"

    assert wirewright("flow", "sessions", "remove", history, "s").code == 0
    again = wirewright("flow", "sessions", "remove", history, "s")
    assert again.code == 1
    assert "wirewright flow sessions list" in again.err
    left = wirewright("flow", "sessions", "list", history, "--json").json["sessions"]
    assert [each["session"] for each in left] == ["t"]
    every = wirewright("flow", "sessions", "remove", history, "--all")
    assert (every.code, every.err) == (0, "1 session is forgotten.\n")
    assert wirewright("flow", "sessions", "list", history, "--json").json["sessions"] == []


@pytest.mark.usefixtures("excerpt")
def test_a_flow_without_sessions_says_so(wirewright: Wirewright, history: Path) -> None:
    listed = wirewright("flow", "sessions", "list", history)
    assert (listed.code, listed.out) == (0, "")
    assert "no sessions" in listed.err
    missing = wirewright("flow", "sessions", "show", history, "s", "--json")
    assert missing.code == 1
    assert missing.json["error"]["code"] == "session_not_found"


@pytest.mark.usefixtures("excerpt")
def test_sessions_of_a_file_that_cannot_be_read_are_bad_usage(wirewright: Wirewright, tmp_path: Path) -> None:
    assert wirewright("flow", "sessions", "list", tmp_path / "nothing").code == 2
    broken = wirewright("flow", "sessions", "list", "-", "--json", stdin=b"nodes:\n  a: Nothing\n")
    assert (broken.code, broken.json["error"]["code"]) == (2, "invalid_flow")


@pytest.mark.usefixtures("excerpt")
@pytest.mark.parametrize("arguments", [(), ("s", "--all")])
def test_removing_needs_one_session_or_all(wirewright: Wirewright, history: Path, arguments: tuple[str, ...]) -> None:
    refused = wirewright("flow", "sessions", "remove", history, *arguments)
    assert refused.code == 2
    assert "--all" in refused.err


@pytest.mark.usefixtures("excerpt")
def test_a_database_that_cannot_be_used_is_an_error_with_a_remedy(
    wirewright: Wirewright, history: Path, data_folder: Path
) -> None:
    data_folder.mkdir()
    (data_folder / "wirewright.db").write_bytes(b"no database at all" * 100)
    failed = wirewright("flow", "sessions", "list", history, "--json")
    assert (failed.code, failed.json["error"]["code"]) == (1, "store_unavailable")
