"""Searching users' files: which paths and lines match, and patterns that mean harm."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.files.folders import user_folder
from runtime.files.names import FileRefused
from runtime.files.search import glob_files, grep_lines
from runtime.files.store import UserFiles


@pytest.fixture
def files(tmp_path: Path) -> UserFiles:
    files = UserFiles(tmp_path, "alice")
    files.write("README.md", "Title\nSet the API key here.\n")
    files.write("docs/a.md", "nothing\n")
    files.write("docs/deep/b.md", "the api KEY again\n")
    files.write("docs/deep/c.txt", "api key\n")
    folder = user_folder(tmp_path, "alice")
    (folder / ".components").mkdir()
    (folder / ".components" / "X.py").write_text("api key\n")
    (folder / "binary.md").write_bytes(b"\xff api key")
    return files


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.md", "", ["README.md", "binary.md", "docs/a.md", "docs/deep/b.md"]),
        ("docs/*.md", "", ["docs/a.md"]),
        ("docs/**/*.md", "", ["docs/a.md", "docs/deep/b.md"]),
        ("**", "docs", ["docs/a.md", "docs/deep/b.md", "docs/deep/c.txt"]),
        ("?.md", "docs/deep", ["docs/deep/b.md"]),
        ("readme.md", "", []),
        ("*/deep/*", "", ["docs/deep/b.md", "docs/deep/c.txt"]),
    ],
)
def test_a_pattern_lists_the_paths_it_matches(files: UserFiles, pattern: str, path: str, found: list[str]) -> None:
    assert [name for name, _ in glob_files(files, pattern, path)] == found


def test_lines_are_found_in_every_text_file_in_both_cases(files: UserFiles) -> None:
    assert [(line.path, line.number) for line in grep_lines(files, "API key")] == [
        ("README.md", 2),
        ("docs/deep/b.md", 1),
        ("docs/deep/c.txt", 1),
    ]
    assert [line.path for line in grep_lines(files, r"api\s+key$", "docs", "*.txt")] == ["docs/deep/c.txt"]
    assert [line.path for line in grep_lines(files, "api", "README.md")] == ["README.md"]
    assert len(grep_lines(files, "api", limit=2)) == 2


@pytest.mark.parametrize(
    "pattern", [".components/*", ".COMPONENTS/**", "**/.components/X.py", "../*", "/etc/*", "", "\\x"]
)
def test_a_pattern_that_leads_elsewhere_is_refused(files: UserFiles, pattern: str) -> None:
    with pytest.raises(FileRefused):
        glob_files(files, pattern)


@pytest.mark.parametrize("path", [".components", "../", "/"])
def test_no_search_looks_elsewhere(files: UserFiles, path: str) -> None:
    with pytest.raises(FileRefused):
        grep_lines(files, "api", path)
    with pytest.raises(FileRefused):
        glob_files(files, "**", path)


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a" * 300, ""])
def test_what_is_not_an_expression_is_refused(files: UserFiles, pattern: str) -> None:
    with pytest.raises(FileRefused, match="pattern"):
        grep_lines(files, pattern)


def test_an_expression_that_never_ends_is_stopped(files: UserFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.files.search.SEARCH_SECONDS", 0.05)
    files.write("long.txt", "a" * 4_000 + "!")
    with pytest.raises(FileRefused, match="too long"):
        grep_lines(files, r"^(?:(?:a|aa)+)+$", "long.txt")


@given(st.text(alphabet="ab*?[]/!-", min_size=1, max_size=40))
def test_matching_ends_for_every_pattern(pattern: str) -> None:
    class Listed(UserFiles):
        def listing(self, path: str = "") -> list[tuple[str, int]]:
            return [("/".join(["ab" * 20] * 8), 1)]

    try:
        glob_files(Listed(Path("unused"), "alice"), pattern)
    except FileRefused:
        return
