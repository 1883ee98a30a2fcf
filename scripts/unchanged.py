"""`python -m scripts.unchanged NAME INPUT... -- COMMAND...`: run a check, unless what it reads is as when it passed.

The inputs are files and folders of the checkout, of which sources of Python count. What is installed counts, too, and
the command itself. A check that has never passed in a checkout, as in a fresh clone, is run.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = frozenset({".py", ".pyi"})


def passed_file(root: Path, name: str) -> Path:
    """The file that says for which state of its inputs a check has passed."""
    return root / ".cache" / "passed" / name


def has_passed(root: Path, name: str, digest: str) -> bool:
    """Whether a check has passed in this state."""
    path = passed_file(root, name)
    return path.is_file() and path.read_text(encoding="ascii") == digest


def note_passed(root: Path, name: str, digest: str) -> None:
    """Note that a check has passed in this state."""
    path = passed_file(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(digest, encoding="ascii")


def digest_of(root: Path, inputs: Iterable[str], command: Sequence[str], installed: Path) -> str:
    """The digest of all that decides a check.

    Args:
        root: the checkout.
        inputs: files and folders of it.
        command: what is run.
        installed: the folder of the installed packages, whose versions count.
    """
    found = hashlib.sha256(repr((sys.version, list(command))).encode())
    for distribution in sorted(path.name for path in installed.glob("*.dist-info")):
        found.update(distribution.encode() + b"\0")
    for given in inputs:
        path = root / given
        files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.suffix in SOURCES)
        for file in files:
            content = hashlib.sha256(file.read_bytes()).digest()
            found.update(file.relative_to(root).as_posix().encode() + b"\0" + content)
    return found.hexdigest()


def check(root: Path, name: str, inputs: Sequence[str], command: Sequence[str], installed: Path) -> int:
    """Run a check unless it has passed in this state; returns its exit code.

    Args:
        root: the checkout, in which it is run.
        name: what its state is stored under.
        inputs: see `digest_of`.
        command: what is run.
        installed: see `digest_of`.
    """
    digest = digest_of(root, inputs, command, installed)
    if has_passed(root, name, digest):
        print(f"{name}: nothing has changed since it passed.")
        return 0
    code = subprocess.run(command, check=False, cwd=root).returncode
    if code == 0 and digest_of(root, inputs, command, installed) == digest:  # nobody has written meanwhile
        note_passed(root, name, digest)
    return code


def main(arguments: Sequence[str]) -> int:
    """Read the arguments and run the check."""
    name, *inputs = arguments[: arguments.index("--")]
    command = arguments[arguments.index("--") + 1 :]
    return check(ROOT, name, inputs, command, Path(sysconfig.get_path("purelib")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
