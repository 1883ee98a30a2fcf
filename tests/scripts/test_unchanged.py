"""A check is left out while all that it reads is as when it passed, and at no other time."""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts import page
from scripts.unchanged import check

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from pathlib import Path; Path('ran').open('a').write('.'); raise SystemExit(CODE)"]


def command(code: int) -> list[str]:
    return [part.replace("CODE", str(code)) for part in COMMAND]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with a package, a file of settings, and what is installed."""
    for name in ("agent/turn/run.py", "agent/notes.txt", "settings.toml", "installed/one-1.0.dist-info/METADATA"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def checked(root: Path, code: int = 0) -> tuple[int, int]:
    """What a check ends with, and how often it has been run by then."""
    ended = check(root, "types", ["settings.toml", "agent"], command(code), root / "installed")
    ran = root / "ran"
    return ended, len(ran.read_text()) if ran.exists() else 0


def test_what_has_passed_is_run_once(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(tree) == (0, 1)
    assert checked(tree) == (0, 1)
    assert capsys.readouterr().out == "types: nothing has changed since it passed.\n"


def test_what_has_failed_is_run_again(tree: Path) -> None:
    assert checked(tree, code=3) == (3, 1)
    assert checked(tree, code=3) == (3, 2)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a source": lambda root: (root / "agent" / "turn" / "run.py").write_text("changed"),
    "a new source": lambda root: (root / "agent" / "new.py").write_text(""),
    "a removed source": lambda root: (root / "agent" / "turn" / "run.py").unlink(),
    "a renamed source": lambda root: (root / "agent" / "turn" / "run.py").rename(root / "agent" / "run.py"),
    "settings": lambda root: (root / "settings.toml").write_text("changed"),
    "a version": lambda root: (root / "installed" / "one-1.0.dist-info").rename(
        root / "installed" / "one-1.1.dist-info"
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_run_again_when_something_that_it_reads_changes(tree: Path, change: str) -> None:
    assert checked(tree) == (0, 1)
    CHANGES[change](tree)
    assert checked(tree) == (0, 2)


def test_another_command_is_another_check(tree: Path) -> None:
    assert checked(tree) == (0, 1)
    assert checked(tree, code=1) == (1, 2)


def test_what_changes_while_it_is_checked_has_not_passed(tree: Path) -> None:
    writes = [sys.executable, "-c", "from pathlib import Path; Path('agent/turn/run.py').write_text('changed')"]
    for _ in range(2):
        (tree / "agent" / "turn" / "run.py").write_text("as it was")
        assert check(tree, "types", ["agent"], writes, tree / "installed") == 0
    assert not (tree / ".cache").exists()


def test_the_linters_name_all_that_the_types_depend_on() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (line,) = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("TYPED :=")]
    assert set(line.split()[2:]) == {"pyproject.toml", "uv.lock", *project["tool"]["basedpyright"]["include"]}


def test_the_page_is_checked_once_and_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    digests = iter(["one", "one", "two", "two", "two"])
    monkeypatch.setattr(page, "ROOT", tmp_path)
    monkeypatch.setattr(page, "is_current", lambda root: True)
    monkeypatch.setattr(page, "digest_of", lambda root: next(digests))
    monkeypatch.setattr(page, "npm", lambda root, *words: asked.append(words) or "")
    assert [page.check() for _ in range(3)] == [0, 0, 0]
    assert asked == [("run", "check")] * 2

    def failing(root: Path, *words: str) -> str:
        asked.append(words)
        raise page.PageNotBuilt("an error")

    digests = iter(["three", "three"])
    monkeypatch.setattr(page, "npm", failing)
    assert [page.check(), page.check()] == [1, 1]
    assert len(asked) == 4
