"""The lists of what components may use, and what an operator adds to them."""

import os
from pathlib import Path

import pytest

import runtime.guard
from runtime.guard import scan
from runtime.guard.ruleset import ALLOW, RulesError, rules

GUARD = Path(runtime.guard.__file__).parent
LINES = 5_916
"""The ceiling of ADR 0135."""
USES = "import subprocess\nsubprocess.run(['a'])\nsubprocess.call('b')\n"


@pytest.fixture
def allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "allow.yaml"
    monkeypatch.setenv(ALLOW, str(path))
    return path


def test_an_operator_allows_names_of_a_module_and_no_more(allow: Path) -> None:
    allow.write_text("subprocess: {why: We convert., names: run}\nacme.tools: {why: Ours., names: Client}\n")
    assert [(found.line, found.rule) for found in scan(USES)] == [(3, "process")]
    assert scan("from acme.tools import Client\nClient('a').send()") == []
    assert scan("from acme.tools import Other") != []


def test_an_operator_allows_a_name_that_is_refused_by_itself(allow: Path) -> None:
    allow.write_text("os: {why: Settings of the site., names: environ}\n")
    assert scan("import os\nprint(os.environ['SITE'])") == []
    assert scan("import os\nos.system('id')") != []


def test_a_check_can_be_named_with_a_name(allow: Path) -> None:
    allow.write_text("acme: {why: Ours., names: 'load:path'}\n")
    assert [found.rule for found in scan("import acme\nacme.load('/etc/passwd')")] == ["files"]
    assert scan("import acme, tempfile\nacme.load(tempfile.mkdtemp() + '/a')") == []


def test_modules_share_an_entry_and_a_word_with_a_dot_opens_a_module_inside(allow: Path) -> None:
    allow.write_text("acme acme.old: {why: Ours., names: 'Client errors. NotPaid load:path'}\n")
    assert scan("from acme.errors import NotPaid\nfrom acme.old.errors import NotPaid as Old\nimport acme.old") == []
    assert scan("import acme\nacme.Client().bill()") == []
    assert [found.rule for found in scan("from acme import NotPaid")] == ["unlisted"]
    assert [found.rule for found in scan("import acme.old.errors\nacme.old.errors.load('/etc/passwd')")] == ["files"]


@pytest.mark.parametrize("text", ["- a list", "acme: {names: load}", "acme: {why: Ours., more: 1}", "a: ["])
def test_nothing_passes_while_the_operators_file_cannot_be_used(allow: Path, text: str) -> None:
    allow.write_text(text)
    with pytest.raises(RulesError):
        rules()
    (found,) = scan("x = 1")
    assert "allow list" in found.message


def test_a_file_that_is_not_there_is_said(allow: Path) -> None:
    (found,) = scan("x = 1")
    assert ALLOW in found.message
    assert str(allow) not in found.message


@pytest.mark.skipif(os.name != "posix", reason="modes and owners of POSIX")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_allows_nothing_and_the_remedy_is_said(allow: Path, mode: int) -> None:
    allow.write_text("acme: {why: Ours., names: one}\n")
    assert scan("from acme import one") == []
    allow.chmod(mode)
    (found,) = scan("x = 1")
    assert f"{ALLOW} names is not used: other users of this machine may write it" in found.message
    assert f"chmod 600 {allow.name}" in found.message
    assert str(allow.parent) not in found.message
    allow.chmod(0o600)
    assert scan("from acme import one") == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_allows_nothing(allow: Path) -> None:
    allow.write_text("acme: {why: Ours., names: one}\n")
    os.chown(allow, 65534, 65534)
    (found,) = scan("from acme import one")
    assert "it belongs to another user" in found.message


def test_a_file_behind_a_link_counts_as_operators_mount_it(allow: Path) -> None:
    real = allow.with_name("real.yaml")
    real.write_text("acme: {why: Ours., names: one}\n")
    allow.symlink_to(real)
    assert scan("from acme import one") == []
    real.chmod(0o666)
    assert scan("from acme import one") != []


def test_a_change_of_the_file_counts_at_once(allow: Path) -> None:
    allow.write_text("acme: {why: Ours., names: one}\n")
    assert scan("from acme import two") != []
    allow.write_text("acme: {why: Ours., names: one two}\n")
    assert scan("from acme import two") == []


def test_every_entry_has_a_reason_and_no_name_is_listed_twice() -> None:
    listed = rules()
    assert len(listed.modules) > 200
    assert all(not name.startswith("_") or name.startswith("__") for names in listed.modules.values() for name in names)
    assert not {path for path in listed.refused if path.rpartition(".")[2] in listed.names(path.rpartition(".")[0])}


def test_the_guard_with_its_data_files_stays_below_its_ceiling() -> None:
    files = [path for path in GUARD.rglob("*") if path.suffix in {".py", ".yaml"}]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= LINES
