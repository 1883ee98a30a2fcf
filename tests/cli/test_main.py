"""The command's entry: every way to end has its exit code, and with --json standard output holds JSON alone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from typer.main import get_command

from cli.main import command_line, wants_json
from tests.cli.conftest import Wirewright

COMMANDS = [
    ["serve"],
    ["ask"],
    ["flow", "build"],
    ["flow", "check"],
    ["flow", "run"],
    ["flow", "spec"],
    ["components", "search"],
    ["components", "describe"],
    ["runner", "install"],
    ["runner", "status"],
    ["eval", "run"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command: list[str], wirewright: Wirewright) -> None:
    done = wirewright(*command, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: wirewright {' '.join(command)}")


def commands(group: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every command that the parser knows, with the words that lead to it."""
    below: dict[str, object] | None = getattr(group, "commands", None)
    if below is None:
        yield path, group
        return
    for name, command in below.items():
        yield from commands(command, (*path, name))


def test_every_command_takes_json() -> None:
    found = dict(commands(get_command(command_line())))
    assert {("ask",), ("chat",), ("serve",), ("flow", "build"), ("eval", "run")} <= set(found)
    without = [
        " ".join(path)
        for path, command in found.items()
        if path != ("mcp",)  # whose standard output is the protocol's
        and not any("--json" in option.opts for option in getattr(command, "params", []))
    ]
    assert without == []


@pytest.mark.parametrize("group", [[], ["flow"], ["components"], ["runner"], ["eval"]], ids=str)
def test_a_group_alone_is_bad_usage_and_shows_its_help_on_standard_error(
    group: list[str], wirewright: Wirewright
) -> None:
    done = wirewright(*group)
    assert done.code == 2
    assert done.out == ""
    assert "Commands:" in done.err


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (["bogus", "--json"], "wirewright"),
        (["flow", "build", "--json"], "wirewright flow build"),
        (["flow", "check", "x", "--bogus", "--json"], "wirewright flow check"),
        (["components", "search", "x", "--limit", "0", "--json"], "wirewright components search"),
        (["components", "search", "x", "--limit", "many", "--json"], "wirewright components search"),
        (["eval", "run", "--repeats", "0", "--json"], "wirewright eval run"),
        (["eval", "run", "--min-pass", "2", "--json"], "wirewright eval run"),
        (["runner", "status", "extra", "--json"], "wirewright runner status"),
    ],
)
def test_bad_usage_is_an_error_document_when_json_is_wanted(
    arguments: list[str], where: str, wirewright: Wirewright
) -> None:
    done = wirewright(*arguments)
    assert done.code == 2
    error = done.json["error"]
    assert set(error) == {"code", "message", "fix", "where"}
    assert (error["code"], error["where"], error["fix"]) == ("usage", where, f"See: {where} --help")
    assert error["message"]


def test_bad_usage_is_noted_on_standard_error_without_the_json_option(wirewright: Wirewright) -> None:
    done = wirewright("flow", "build")
    assert done.code == 2
    assert done.out == ""
    assert "Missing argument" in done.err


def test_json_after_a_double_dash_is_not_an_option() -> None:
    assert wants_json(["flow", "run", "f", "--json"])
    assert not wants_json(["ask", "--", "--json"])
    assert not wants_json(["flow", "run", "f"])


def test_an_internal_error_is_reported_without_a_traceback(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch, excerpt: Path
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("/home/someone/secret")

    monkeypatch.setattr("cli.engine.cached_catalogue", broken)
    done = wirewright("components", "search", "x", "--json")
    assert done.code == 1
    assert done.json["error"]["code"] == "internal"
    assert "secret" not in done.out + done.err


def loaded(*arguments: str) -> set[str]:
    """The modules that a process has imported when it has run a command."""
    code = f"import sys; from cli.main import run; run({list(arguments)!r}); sys.stderr.write('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stderr.splitlines())


def test_help_loads_nothing_heavy() -> None:
    heavy = {"pydantic", "pydantic_ai", "agent", "runtime", "server", "yaml", "rich.console"}
    assert loaded("--help") & {*heavy, "cli.main"} == {"cli.main"}


def test_search_loads_no_models_and_no_engine(excerpt: Path) -> None:
    heavy = {"pydantic_ai", "agent", "runtime", "server", "openai"}
    assert loaded("components", "search", "x") & {*heavy, "flows.search"} == {"flows.search"}


def test_the_token_is_printed_without_loading_the_assistant() -> None:
    code = "import sys; from cli.main import run; run(['token']); sys.exit('pydantic_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).returncode == 0


def test_output_is_utf8_whatever_the_locale(tmp_path: Path, excerpt: Path) -> None:
    spec = tmp_path / "grüße.flow"
    spec.write_text("nodes:\n  ä: ChatInput\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "flow", "check", str(spec), "--json"],
        capture_output=True,
        timeout=60,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode in (0, 1)
    assert done.stdout.decode("utf-8").startswith('{"ok": ')


def test_a_reader_that_leaves_early_is_not_a_fault_of_ours(excerpt: Path, wirewright_command: Path) -> None:
    process = subprocess.Popen(
        [wirewright_command, "components", "search", "-", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(b"chat\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith(b'{"query": "chat"')
    process.stdout.close()
    process.stdin.write(b"chat\n" * 1000)
    process.stdin.close()
    process.wait(timeout=60)
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()


def test_libraries_print_nothing_of_their_own_into_a_conversation() -> None:
    code = "import os, cli.main; print(os.environ['PYDANTIC_AI_NO_BANNER'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_the_version_is_that_of_the_package(wirewright: Wirewright) -> None:
    for option in ("--version", "-V"):
        done = wirewright(option)
        assert (done.code, done.out) == (0, f"wirewright {metadata.version('wirewright')}\n")


@pytest.mark.parametrize("command", [[], ["ask"], ["flow"], ["flow", "build"], ["eval", "run"]], ids=" ".join)
def test_h_is_help(command: list[str], wirewright: Wirewright) -> None:
    assert wirewright(*command, "-h") == wirewright(*command, "--help")


@pytest.mark.parametrize("arguments", [["flow", "templates"], ["flow", "--help"], ["flow", "templates", "--json"]])
def test_a_reader_that_has_read_enough_is_no_failure(arguments: list[str], wirewright_command: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # nobody reads: the first write fails
    command = [wirewright_command, *arguments]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
