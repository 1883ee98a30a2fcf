"""The worktree of another commit, in a repository made for the test."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.against.command import main
from benchmarks.against.worktree import RUNNER, Worktree, WorktreeError, git


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with two commits, of which the second changes the runner's lock; installing takes no packages."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    for number, lock in enumerate(("first", "second")):
        for name in RUNNER:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(lock)
        (folder / ".gitignore").write_text(".cache/\n.venv/\n")
        (folder / "pyproject.toml").write_text('[project]\nname = "empty"\nversion = "0"\nrequires-python = ">=3.11"\n')
        (folder / "uv.lock").write_text(
            'version = 1\nrequires-python = ">=3.11"\n\n[[package]]\nname = "empty"\nversion = "0"\n'
            'source = { virtual = "." }\n'
        )
        git(folder, "add", "--all")
        author = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        git(folder, *author, "commit", "--quiet", "--message", f"Commit {number}")
    return folder


def test_a_commit_that_git_does_not_know_is_an_error_that_names_it(checkout: Path) -> None:
    with pytest.raises(WorktreeError, match=r"'no-such' names no commit of .*\. Fetch it first, or give another one\."):
        Worktree.of(checkout, "no-such")


def test_a_revision_that_looks_like_an_option_is_not_a_commit(checkout: Path) -> None:
    with pytest.raises(WorktreeError, match="names no commit"):
        Worktree.of(checkout, "--all")


def test_a_folder_that_is_not_a_repository_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(WorktreeError, match=r"names no commit .*not a git repository"):
        Worktree.of(tmp_path, "HEAD")


def test_the_command_says_what_is_wrong_and_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--against", "no-such-commit"]) == 2
    assert "error: 'no-such-commit' names no commit" in capsys.readouterr().err


def test_a_commit_is_checked_out_with_an_environment_and_kept(checkout: Path, tmp_path: Path) -> None:
    worktree = Worktree.of(checkout, "HEAD")
    worktree.prepare(tmp_path / "cache")
    assert worktree.folder == checkout / ".cache" / "bench" / git(checkout, "rev-parse", "HEAD")
    assert (worktree.folder / ".venv" / "bin" / "python").exists()
    left = worktree.folder / ".cache" / "left"
    left.write_text("kept")
    worktree.prepare(tmp_path / "cache")
    assert left.read_text() == "kept"
    assert git(checkout, "status", "--porcelain") == ""


def test_an_interrupted_checkout_is_repeated(checkout: Path, tmp_path: Path) -> None:
    worktree = Worktree.of(checkout, "HEAD")
    worktree.prepare(tmp_path / "cache")
    (worktree.folder / ".git").unlink()
    (worktree.folder / "uv.lock").unlink()
    worktree.prepare(tmp_path / "cache")
    assert (worktree.folder / "uv.lock").exists()


def test_the_engine_is_shared_only_when_both_are_made_from_the_same_lock(checkout: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    same, other = Worktree.of(checkout, "HEAD"), Worktree.of(checkout, "HEAD~1")
    same.prepare(cache)
    other.prepare(cache)
    assert (same.cache / "runner").resolve() == (cache / "runner").resolve()
    assert not (other.cache / "runner").exists()


def test_an_engine_is_shared_no_longer_once_the_lock_has_changed(checkout: Path, tmp_path: Path) -> None:
    worktree = Worktree.of(checkout, "HEAD")
    worktree.prepare(tmp_path / "cache")
    (checkout / RUNNER[0]).write_text("third")
    worktree.prepare(tmp_path / "cache")
    assert not (worktree.cache / "runner").exists()
    assert (tmp_path / "cache" / "runner").is_dir()


def test_removing_leaves_nothing_and_says_whether_there_was_something(checkout: Path, tmp_path: Path) -> None:
    worktree = Worktree.of(checkout, "HEAD")
    assert not worktree.remove()
    worktree.prepare(tmp_path / "cache")
    assert worktree.remove()
    assert not worktree.folder.exists()
    assert str(worktree.folder) not in git(checkout, "worktree", "list")
    assert (tmp_path / "cache" / "runner").is_dir()
