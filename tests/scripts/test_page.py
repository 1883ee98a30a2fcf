"""Building the page: what it is built from, when it is current, and what is said when it cannot be built."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scripts import page
from scripts.page import DIGEST, PageNotBuilt, build, digest_of, install, is_current, main, page_folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with the sources of a page, whose packages are installed."""
    for name in ("web/src/main.tsx", "web/package-lock.json", "docs/contract/openapi.json", "docs/contract/types.ts"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "web" / "node_modules").mkdir()
    (tmp_path / "web" / "node_modules" / ".package-lock.json").write_text("{}")
    return tmp_path


def told(monkeypatch: pytest.MonkeyPatch, failure: str | None = None) -> list[tuple[str, ...]]:
    """What npm is asked for; nothing is run."""
    asked: list[tuple[str, ...]] = []

    def npm(root: Path, *words: str, **variables: str) -> str:
        asked.append(words)
        if failure is not None:
            raise PageNotBuilt(failure)
        built = Path(variables.get("PAGE_FOLDER", root / "web" / "dist"))
        (built / "assets").mkdir(parents=True, exist_ok=True)
        (built / "index.html").write_text(digest_of(root))
        (built / "assets" / f"{digest_of(root)}.js").write_text("1")
        return ""

    monkeypatch.setattr(page, "npm", npm)
    return asked


def test_a_page_is_built_once_and_again_when_something_of_it_changes(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = told(monkeypatch)
    assert build(tree)
    assert is_current(tree)
    assert not build(tree)
    assert asked == [("run", "build")]
    for name in ("web/src/main.tsx", "docs/contract/openapi.json"):
        (tree / name).write_text("changed")
        assert not is_current(tree)
        assert build(tree)
    (tree / "web" / "node_modules" / "react.js").write_text("not a source")
    (tree / "web" / "src" / "openapi.ts").write_text("made from the contract")
    assert is_current(tree)


def test_the_digest_sees_names_as_well_as_contents(tree: Path) -> None:
    before = digest_of(tree)
    (tree / "web" / "src" / "main.tsx").rename(tree / "web" / "src" / "other.tsx")
    assert digest_of(tree) != before


def test_packages_are_installed_when_the_lock_is_newer(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = told(monkeypatch)
    install(tree)
    assert asked == []
    shutil.rmtree(tree / "web" / "node_modules")
    install(tree)
    assert asked == [("ci", "--ignore-scripts", "--prefer-offline")]


def test_a_page_that_cannot_be_built_is_said_and_the_one_before_stays(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page_folder(tree).mkdir(parents=True)
    (page_folder(tree) / "index.html").write_text("older")
    told(monkeypatch, "npm ci failed: no registry")
    monkeypatch.setattr(page, "ROOT", tree)
    assert main() == 1
    assert "no registry" in capsys.readouterr().err
    assert (page_folder(tree) / "index.html").read_text() == "older"
    assert not (page_folder(tree) / DIGEST).exists()


def test_what_npm_says_is_part_of_the_failure(tree: Path) -> None:
    (tree / "web" / "package.json").write_text("no JSON")
    with pytest.raises(PageNotBuilt, match="npm run failed"):
        page.npm(tree, "run", "build")


def test_a_newer_page_takes_the_place_of_the_older_one(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch)
    build(tree)
    shutil.rmtree(tree / "web" / "dist")
    (tree / "web" / "src" / "main.tsx").write_text("changed")
    build(tree)
    files = {path.relative_to(page_folder(tree)).as_posix() for path in page_folder(tree).rglob("*") if path.is_file()}
    assert files == {DIGEST, "index.html", f"assets/{digest_of(tree)}.js"}
    assert (page_folder(tree) / "index.html").read_text() == digest_of(tree)


def test_a_page_that_somebody_else_builds_is_waited_for(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = told(monkeypatch)
    with ThreadPoolExecutor() as pool, page.building(tree):
        other = pool.submit(build, tree)
        page.npm(tree, "run", "build")
        page.publish(tree / "web" / "dist", page_folder(tree), digest_of(tree))
    assert other.result() is False
    assert len(asked) == 1
