"""Hatch's build hook: in the wheel every package lives under one name, so that `agent` becomes `wirewright.agent`.

The repository keeps its literal top level. Imports are rewritten by syntax tree; so are strings that name a module of
ours, alone or with one of its names (`"flows.spec"`, `"agent.turn.run:play"`).

Both the wheel and the source distribution carry the page, which `scripts/page.py` builds, and the commit that they are
built from, for `runtime.install.release`.
"""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "wirewright"
PACKAGES = ("agent", "cli", "evals", "flows", "runtime", "server", "tools")
RUNNER = "lfx_runner"
"""Not rewritten: it runs in an environment of its own and imports nothing of ours."""
COMMIT_FILE = Path("runtime", "install", "commit.txt")
COMMIT_VARIABLE = "WIREWRIGHT_COMMIT"
"""Names the commit where git cannot, as in the build of an image, whose context has no `.git`."""
NO_PAGE_VARIABLE = "WIREWRIGHT_WITHOUT_PAGE"
"""Set to build a package without the page, as on a machine without the network."""
_COMMIT = re.compile(r"[0-9A-Za-z.-]{1,60}")


class BuildHook(BuildHookInterface[Any]):
    """Puts the rewritten packages, the face and the runner's source into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Rewrite into a temporary folder and include that; an editable install uses the repository as it is."""
        if version == "editable":
            return
        build_page(Path(self.root))
        self._folder = tempfile.mkdtemp(prefix="wirewright-wheel-")
        root, target = Path(self.root), Path(self._folder)
        commit = commit_of(root)
        if self.target_name == "sdist":
            if commit and not (root / COMMIT_FILE).exists():
                noted = target / COMMIT_FILE.name
                noted.write_text(commit, encoding="ascii")
                build_data["force_include"][str(noted)] = COMMIT_FILE.as_posix()
            return
        write_package(root, target)
        if commit:
            (target / COMMIT_FILE).write_text(commit, encoding="ascii")
        build_data["force_include"][str(target)] = NAME

    def finalize(self, version: str, _: dict[str, Any], __: str) -> None:
        """Remove the temporary folder."""
        if version != "editable":
            shutil.rmtree(self._folder)


def build_page(root: Path) -> None:
    """Build the page of a tree, unless it is current or nobody wants one.

    Raises:
        Exception: it cannot be built; the message says why, and how to go on without it.
    """
    if os.environ.get(NO_PAGE_VARIABLE):
        return
    spec = importlib.util.spec_from_file_location("wirewright_page", root / "scripts" / "page.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{root / 'scripts' / 'page.py'} is missing: it builds the page.")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    try:
        script.build(root)
    except script.PageNotBuilt as failure:
        failure.add_note(f"{NO_PAGE_VARIABLE}=1 builds the package without the page.")
        raise


def commit_of(root: Path) -> str:
    """The commit that a tree was taken from; empty when it is unknown.

    Args:
        root: a checkout, or an unpacked source distribution, which names its commit in a file.
    """
    named = os.environ.get(COMMIT_VARIABLE, "").strip()
    if not named and (root / COMMIT_FILE).exists():
        named = (root / COMMIT_FILE).read_text(encoding="ascii").strip()
    if not named and (root / ".git").exists():
        describe = ["git", "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=.dirty"]
        try:
            done = subprocess.run(describe, cwd=root, capture_output=True, text=True, timeout=60, check=False)
        except OSError:  # there is no git
            return ""
        named = done.stdout.strip() if done.returncode == 0 else ""
    return named if _COMMIT.fullmatch(named) else ""


@dataclass(frozen=True)
class Edit:
    """Bytes from `start` to `end` of a source become `text`."""

    start: int
    end: int
    text: str


def write_package(root: Path, target: Path) -> None:
    """Write the package as it stands in the wheel.

    Args:
        root: the repository.
        target: an empty folder, which becomes the package `wirewright`.
    """
    modules = names_by_module(root)
    for package in PACKAGES:
        for path in _files(root / package):
            place = target / path.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".py":
                place.write_text(rewritten(path.read_text(encoding="utf-8"), modules), encoding="utf-8")
            else:
                shutil.copyfile(path, place)
    face = (root / f"{NAME}.py").read_text(encoding="utf-8")
    (target / "__init__.py").write_text(rewritten(face, modules), encoding="utf-8")
    (target / "py.typed").touch()
    for path in _files(root / RUNNER):
        place = target / "runtime" / f"_{RUNNER}" / path.relative_to(root / RUNNER)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def names_by_module(root: Path) -> dict[str, frozenset[str]]:
    """The names that each of our modules defines or imports at its top level, by the module's dotted name."""
    found: dict[str, frozenset[str]] = {}
    for package in PACKAGES:
        for path in (root / package).rglob("*.py"):
            module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            found[module] = frozenset(_names(ast.parse(path.read_text(encoding="utf-8"))))
    return found


def _names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def rewritten(source: str, modules: Mapping[str, frozenset[str]]) -> str:
    """`source` with every import of ours, and every string that names a module of ours, below `wirewright`.

    Args:
        source: Python source.
        modules: our modules and their names, as `names_by_module` gives them.

    Raises:
        SyntaxError: the source does not parse.
    """
    data = source.encode()
    for edit in sorted(_edits(source, modules), key=lambda edit: edit.start, reverse=True):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data.decode()


def _edits(source: str, modules: Mapping[str, frozenset[str]]) -> Iterator[Edit]:
    tree = ast.parse(source)
    lines = [len(line) for line in source.encode().splitlines(keepends=True)]
    starts = [sum(lines[:number]) for number in range(len(lines))]

    def start(node: ast.expr | ast.alias | ast.stmt) -> int:
        return starts[node.lineno - 1] + node.col_offset

    plain = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name in modules and alias.asname is None
    }
    formatted = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if node in formatted:  # its place is that of the whole text
            continue
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "") in modules:
            place = start(node) + len("from ")
            yield Edit(place, place, f"{NAME}.")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in modules:
                    yield Edit(start(alias), start(alias), f"{NAME}.")
        elif isinstance(node, ast.Name | ast.Attribute) and _dotted(node) in plain:
            yield Edit(start(node), start(node), f"{NAME}.")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and names_ours(node.value, modules):
            place = starts[node.lineno - 1] + node.col_offset
            text = source.encode()[place:]
            quote = min(index for index in (text.find(b'"'), text.find(b"'")) if index >= 0)
            yield Edit(place + quote + 1, place + quote + 1, f"{NAME}.")


def _dotted(node: ast.expr) -> str:
    """`a.b.c` for a chain of attributes that starts at a name; otherwise empty."""
    if isinstance(node, ast.Name):
        return node.id
    below = _dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{below}.{node.attr}" if below and isinstance(node, ast.Attribute) else ""


def names_ours(text: str, modules: Mapping[str, frozenset[str]]) -> bool:
    """Whether a string names a module of ours, or a name in one (`module:name`, `module.name`).

    A package's bare name (`"agent"`) does not count: it is a word.
    """
    if "." in text and text in modules:
        return True
    module, _, name = text.rpartition(":" if ":" in text else ".")
    return name in modules.get(module, ())
