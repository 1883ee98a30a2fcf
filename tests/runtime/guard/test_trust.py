"""Sources that the operator trusts by their digest."""

import asyncio
import os
from pathlib import Path

import pytest

from runtime.components.rules import read_outline
from runtime.guard import refuse, scan
from runtime.guard.trust import FILE_NAME, TrustError, is_trusted, revoke, trust, trusted
from tests.runtime.components.test_rules import GOOD
from tests.runtime.guard.test_admission import CATALOGUE, EVIL, flow, node

HARMFUL = GOOD + "\n\nimport subprocess\n"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WIREWRIGHT_DATA", str(tmp_path))
    return tmp_path


def test_a_trusted_source_runs_and_any_change_of_it_does_not() -> None:
    trust(EVIL, "evil.py")
    assert refuse(flow(node(code=EVIL + "\n")), CATALOGUE) is None
    assert refuse(flow(node(code=EVIL + "x = 1")), CATALOGUE) is not None
    assert scan(EVIL) != []


def test_a_trusted_source_is_a_component_of_its_user() -> None:
    assert read_outline(HARMFUL)[1] != []
    trust(HARMFUL, "greeter.py")
    outline, faults = read_outline(HARMFUL)
    assert outline is not None
    assert faults == []


def test_a_source_that_is_trusted_no_longer_is_refused_again() -> None:
    kept, gone = trust("import os", "a.py"), trust(EVIL, "b.py")
    assert revoke(gone.digest[:12]) == gone
    assert trusted() == [kept]
    assert refuse(flow(node(code=EVIL)), CATALOGUE) is not None


def test_trusting_twice_lists_once() -> None:
    assert trust("import os", "a.py") == trust("import os\n", "other.py")
    assert len(trusted()) == 1


@pytest.mark.parametrize("digest", ["", "zz"])
def test_a_digest_that_names_no_one_source_is_refused(digest: str) -> None:
    trust("import os", "a.py")
    with pytest.raises(TrustError):
        revoke(digest)


@pytest.mark.parametrize("text", ["{", "[1", "\x00"])
def test_nothing_is_trusted_while_the_list_cannot_be_read(data: Path, text: str) -> None:
    trust("import os", "a.py")
    (data / FILE_NAME).write_text(text)
    assert not is_trusted("import os")
    with pytest.raises(TrustError):
        trust("import sys", "b.py")


def test_the_list_can_be_read_by_its_owner_alone(data: Path) -> None:
    trust("import os", "a.py")
    assert (data / FILE_NAME).stat().st_mode & 0o077 == 0
    assert asyncio.run(asyncio.to_thread(is_trusted, "import os"))


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_a_list_that_others_may_write_trusts_nothing_and_says_how_to_close_it(data: Path, mode: int) -> None:
    trust(EVIL, "evil.py")
    (data / FILE_NAME).chmod(mode)
    assert not is_trusted(EVIL)
    refused = refuse(flow(node(code=EVIL)), CATALOGUE)
    assert refused is not None
    assert "other users of this machine may write it" in refused.message
    assert refused.fix.endswith(f"chmod 600 {FILE_NAME}")
    for use in (trusted, lambda: trust("import os", "a.py"), lambda: revoke("0")):
        with pytest.raises(TrustError, match="chmod 600"):
            use()
    (data / FILE_NAME).chmod(0o600)
    assert is_trusted(EVIL)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_list_of_another_user_trusts_nothing(data: Path) -> None:
    trust(EVIL, "evil.py")
    os.chown(data / FILE_NAME, 65534, 65534)
    assert not is_trusted(EVIL)
    with pytest.raises(TrustError, match="belongs to another user"):
        trusted()


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_list_behind_a_link_trusts_nothing(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    trust(EVIL, "evil.py")
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "list.json"
    (data / FILE_NAME).rename(elsewhere)
    (data / FILE_NAME).symlink_to(elsewhere)
    assert not is_trusted(EVIL)


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_the_folder_of_the_list_is_closed_to_others_when_it_is_written(data: Path) -> None:
    data.chmod(0o777)
    trust(EVIL, "evil.py")
    assert data.stat().st_mode & 0o077 == 0
