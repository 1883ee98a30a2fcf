"""The rewriting of imports for the wheel: by syntax tree, and nothing but what names a module of ours."""

import ast
import importlib
from pathlib import Path

import pytest

from scripts.hatch_build import (
    COMMIT_FILE,
    COMMIT_VARIABLE,
    commit_of,
    names_by_module,
    names_ours,
    rewritten,
    write_package,
)

ROOT = Path(__file__).parents[2]
MODULES = {
    "agent": frozenset[str](),
    "agent.turn": frozenset[str](),
    "agent.turn.run": frozenset({"play"}),
    "tools": frozenset[str](),
}


@pytest.mark.parametrize(
    ("source", "becomes"),
    [
        ("from agent.turn import run", "from wirewright.agent.turn import run"),
        (
            "from agent.turn.run import (\n    play,  # why\n)",
            "from wirewright.agent.turn.run import (\n    play,  # why\n)",
        ),
        ("import agent.turn.run as run, json", "import wirewright.agent.turn.run as run, json"),
        ("import tools\nprint(tools.__file__)", "import wirewright.tools\nprint(wirewright.tools.__file__)"),
        (
            "def f():\n    é = 'ü'; import agent.turn\n    return agent.turn.x",
            "def f():\n    é = 'ü'; import wirewright.agent.turn\n    return wirewright.agent.turn.x",
        ),
        ('HOMES = {"a": "agent.turn.run"}', 'HOMES = {"a": "wirewright.agent.turn.run"}'),
        ("PLACE = r'agent.turn.run:play'", "PLACE = r'wirewright.agent.turn.run:play'"),
        ("PLACE = 'agent.turn.run.play'", "PLACE = 'wirewright.agent.turn.run.play'"),
    ],
)
def test_what_names_a_module_of_ours_is_rewritten(source: str, becomes: str) -> None:
    assert rewritten(source, MODULES) == becomes


@pytest.mark.parametrize(
    "source",
    [
        "from agents.turn import x",
        "import toolshed",
        "from . import turn",
        "from .agent import x",
        "agent = 1\nprint(agent.turn)",
        "text = 'agent'",
        "text = 'The agent.turn module'",
        "event = 'agent.turn.started'",
        "text = f'agent.turn.run{1}'",
        "# import agent.turn",
        '"""from agent.turn import run"""',
    ],
)
def test_everything_else_stays(source: str) -> None:
    assert rewritten(source, MODULES) == source


def test_source_that_does_not_parse_is_refused() -> None:
    with pytest.raises(SyntaxError):
        rewritten("import (", MODULES)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as the hook writes it."""
    folder = tmp_path_factory.mktemp("package") / "wirewright"
    folder.mkdir()
    write_package(ROOT, folder)
    return folder


def test_no_import_of_a_bare_package_is_left(package: Path) -> None:
    bare = set(names_by_module(ROOT))
    left = [
        f"{path.relative_to(package)}: {name}"
        for path in package.rglob("*.py")
        if "_lfx_runner" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
        if name in bare
    ]
    assert left == []


def test_every_rewritten_string_leads_to_something() -> None:
    modules = names_by_module(ROOT)
    texts = {
        node.value
        for package in {name.partition(".")[0] for name in modules}
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and names_ours(node.value, modules)
    }
    assert "server.telemetry.logs" in texts
    for text in texts:
        if text in modules:
            importlib.import_module(text)
        else:
            module, _, name = text.replace(":", ".").rpartition(".")
            assert hasattr(importlib.import_module(module), name), text


def test_the_commit_is_taken_from_the_variable_or_the_file_or_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(COMMIT_VARIABLE, raising=False)
    assert commit_of(tmp_path) == "", "an archive of the sources knows none"
    (tmp_path / COMMIT_FILE).parent.mkdir(parents=True)
    (tmp_path / COMMIT_FILE).write_text("4deb441b0c2d\n")
    assert commit_of(tmp_path) == "4deb441b0c2d"
    monkeypatch.setenv(COMMIT_VARIABLE, "v1.2-rc.3")
    assert commit_of(tmp_path) == "v1.2-rc.3"
    for odd in ("two words", "x" * 61, "$(id)"):
        monkeypatch.setenv(COMMIT_VARIABLE, odd)
        assert commit_of(tmp_path) == ""


def test_without_git_the_commit_of_a_checkout_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(COMMIT_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / ".git").mkdir()
    assert commit_of(tmp_path) == ""
