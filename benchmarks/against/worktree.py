"""The other commit: a git worktree in this checkout's cache folder, with an environment from its own lock file."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import uv

RUNNER = ("lfx_runner/uv.lock", "lfx_runner/pyproject.toml")
"""What the flow engine's environment is made from."""


class WorktreeError(Exception):
    """A commit cannot be checked out or installed; the message says why."""


@dataclass(frozen=True)
class Worktree:
    """A commit beside this checkout; kept and reused until it is removed.

    Attributes:
        checkout: the checkout that it belongs to.
        commit: the full id of the commit.
    """

    checkout: Path
    commit: str

    @classmethod
    def of(cls, checkout: Path, revision: str) -> "Worktree":
        """The worktree of a revision; nothing is checked out yet.

        Raises:
            WorktreeError: git does not know such a commit here.
        """
        try:
            commit = git(checkout, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except WorktreeError as error:
            reason = f" ({error})" if str(error) else ""
            raise WorktreeError(
                f"{revision!r} names no commit of {checkout}{reason}. Fetch it first, or give another one."
            ) from None
        return cls(checkout, commit)

    @property
    def folder(self) -> Path:
        """Where it is checked out."""
        return self.checkout / ".cache" / "bench" / self.commit

    @property
    def cache(self) -> Path:
        """Its own cache of the flow engine and the catalogue."""
        return self.folder / ".cache" / "wirewright"

    def prepare(self, cache: Path) -> None:
        """Check it out unless it is there, and install what its lock file says.

        Args:
            cache: this checkout's cache, whose flow engine is shared when both are made from the same lock.

        Raises:
            WorktreeError: it cannot be checked out or installed.
        """
        if not self._checked_out():
            shutil.rmtree(self.folder, ignore_errors=True)
            git(self.checkout, "worktree", "prune")
            git(self.checkout, "worktree", "add", "--detach", "--quiet", str(self.folder), self.commit)
        kept = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        settings = {"UV_PROJECT_ENVIRONMENT": ".venv", "UV_PYTHON_DOWNLOADS": "never", "UV_COMPILE_BYTECODE": "1"}
        interpreter = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        command = [uv.find_uv_bin(), "sync", "--frozen", "--quiet", "--python", str(interpreter)]
        _run(command, self.folder, kept | settings)
        self._share(cache)

    def remove(self) -> bool:
        """Remove the checkout with all that was installed for it; whether there was one."""
        found = self.folder.exists()
        shutil.rmtree(self.folder, ignore_errors=True)
        git(self.checkout, "worktree", "prune")
        return found

    def _checked_out(self) -> bool:
        if not (self.folder / ".git").is_file():
            return False
        try:
            return git(self.folder, "rev-parse", "HEAD") == self.commit and not git(
                self.folder, "status", "--porcelain", "--untracked-files=no"
            )
        except WorktreeError:
            return False

    def _share(self, cache: Path) -> None:
        """Use the flow engine of another cache when both are made from the same lock; the catalogue stays apart.

        Either side exports the catalogue again when its exporter differs, so one file for both would never be current.
        """
        engines = self.cache / "runner"
        shared = (cache / "runner").resolve()
        self.cache.mkdir(parents=True, exist_ok=True)
        same = all(
            (self.folder / name).is_file() and (self.folder / name).read_bytes() == (self.checkout / name).read_bytes()
            for name in RUNNER
        )
        if engines.is_symlink():
            engines.unlink()
        if same and not engines.exists():
            shared.mkdir(parents=True, exist_ok=True)
            engines.symlink_to(shared, target_is_directory=True)


def git(folder: Path, *arguments: str) -> str:
    """What a git command prints.

    Raises:
        WorktreeError: it fails, or there is no git.
    """
    return _run(["git", *arguments], folder)


def _run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise WorktreeError(f"{command[0]} is not installed") from None
    if done.returncode:
        raise WorktreeError(done.stderr.strip()[-2_000:])
    return done.stdout.strip()
