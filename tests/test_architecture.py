"""The architecture: no import circles, small folders, names that do not repeat, and a map that leads somewhere."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("flows", "lfx_runner", "runtime", "tools", "agent", "evals", "server", "cli")
COLLECTIONS = ("evals/evaluators", "runtime/database/migrations/versions")
"""Folders of one rule a file, and of one step of the schema a file."""
TEST_COLLECTIONS = ("scripts", "benchmarks", "tests/server/routes", "tests/parity", "tests/runtime/guard")
"""Folders of one command, one benchmark, one route, one part of the original, and one way around the guard a file."""
MOST_FILES = 14


def modules() -> dict[str, Path]:
    """Our modules by dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT)
            found[".".join(place.with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Our modules that a file imports, wherever in it: at the top, in a function, or for types alone."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                if submodule in known:
                    yield submodule
                elif node.module in known:
                    yield node.module


def test_no_import_circle() -> None:
    known = modules()
    graph = {name: {other for other in imported(path, known) if other != name} for name, path in known.items()}
    circles = []
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = error.args[1]
            circles.append(" -> ".join(circle))
            graph[circle[1]] = graph[circle[1]] - {circle[0]}
        else:
            break
    assert circles == []


def test_the_evaluator_of_honesty_shares_no_code_with_the_assistants_own_check() -> None:
    known = modules()
    reached, waiting = set[str](), ["evals.evaluators.honest"]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += imported(known[name], known)
    assert "evals.oracles.claims" in reached
    assert {name for name in reached if name.startswith(("agent.honesty", "agent.language"))} == set()


WRITERS = {
    "runtime/files/atomic.py": "writes every file",
    "runtime/files/store.py": "moves an upload, which was written piece by piece, to its place",
    "runtime/database/connections.py": "creates a private database, which SQLite writes",
    "runtime/database/version_0_1.py": "moves a backup, which SQLite writes, and an old file",
    "runtime/database/secrets/take_over.py": "moves an old file, which was taken over",
    "runtime/archive/zipped.py": "moves an archive, which was written piece by piece, to its place",
    "runtime/archive/restore.py": "moves a restored database, which SQLite wrote, and folders of restored files",
    "runtime/install/catalogue_file.py": "moves what the engine exported",
    "runtime/install/environment.py": "moves what the engine exported",
}
"""The modules that move a file to its place, and why; all others use `write_atomically`."""


def moves(node: ast.AST) -> bool:
    """Whether this is a call that moves or links a file."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner, name = ast.unparse(node.func.value), node.func.attr
    if owner in {"os", "shutil"}:
        return name in {"replace", "rename", "renames", "link", "move"}
    of_path = name == "rename" and owner not in {"edits", "planner"}
    return of_path or name == "hardlink_to" or (name == "replace" and len(node.args) == 1 and not node.keywords)


def test_one_function_writes_files_atomically() -> None:
    movers = {
        path.relative_to(ROOT).as_posix()
        for path in modules().values()
        if any(moves(node) for node in ast.walk(ast.parse(path.read_bytes())))
    }
    assert movers == set(WRITERS)


def test_no_folder_is_a_heap() -> None:
    sizes = Counter(path.parent.relative_to(ROOT).as_posix() for path in modules().values())
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES and folder not in COLLECTIONS} == {}


def test_no_folder_of_tests_or_scripts_is_a_heap() -> None:
    places = [path for folder in ("tests", "scripts", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    sizes = Counter(path.parent.relative_to(ROOT).as_posix() for path in places if "v0_1" not in path.parts)
    heaps = {folder: size for folder, size in sizes.items() if size > MOST_FILES and folder not in TEST_COLLECTIONS}
    assert heaps == {}


@pytest.mark.parametrize("encoder", ["sse", "agui", "aisdk"])
def test_an_encoder_only_frames(encoder: str) -> None:
    lines = (ROOT / "server" / "streams" / f"{encoder}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 250, "what is more than framing belongs to the turn or the contract"


def test_no_name_repeats_its_folder_or_its_neighbour() -> None:
    repeating = []
    for path in modules().values():
        folder, stem = path.parent, path.stem
        neighbours = {other.stem for other in folder.iterdir() if other != path}
        prefixes = {stem[: match.start()] for match in re.finditer("_", stem) if match.start()}
        if prefixes & (neighbours | {folder.name, folder.name.removesuffix("s")}):
            repeating.append(path.relative_to(ROOT).as_posix())
    assert repeating == []


def test_tests_mirror_the_folders() -> None:
    """Every folder of tests below a package's own is a folder of that package."""
    ours = {"data", "samples", "scenarios", "snapshots", "files"}
    strangers = [
        folder.relative_to(ROOT / "tests").as_posix()
        for package in PACKAGES
        for folder in (ROOT / "tests" / package).rglob("*")
        if folder.is_dir()
        and folder.name not in ours | {"__pycache__"}
        and not ours & set(folder.relative_to(ROOT / "tests").parts)
        and not (ROOT / folder.relative_to(ROOT / "tests")).is_dir()
    ]
    assert strangers == []


def questions() -> list[tuple[str, str, str]]:
    """The rows of the map in CONTRIBUTING.md: question, file, name."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.findall(r"^\| ((?:Where|Which) [^|]+\?) \| `([^`|]+)` \| `([^`|]+)` \|$", text, re.MULTILINE)


def test_the_map_answers_ten_questions() -> None:
    assert len(questions()) >= 10


@pytest.mark.parametrize(("question", "file", "name"), questions(), ids=lambda value: value if "/" in value else "")
def test_the_map_leads_to_the_file_that_defines_the_name(question: str, file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    defined = {
        node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    named = {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert name in defined | named, question


def test_every_question_of_the_map_is_kept() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Where is")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ") and "| question |" not in line]
    assert len(questions()) == len([row for row in rows if not row.startswith("| ---")])
