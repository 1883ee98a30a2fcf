"""The reusable workflow: valid, safe against what its caller passes, and its commands exist."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from typer.main import get_command

from cli.main import command_line

PATH = Path(__file__).parent.parent.parent / ".github" / "workflows" / "evals.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load(PATH.read_text(encoding="utf-8"))
CALL: dict[str, Any] = WORKFLOW[True]["workflow_call"]  # YAML 1.1 reads `on` as true
JOB: dict[str, Any] = WORKFLOW["jobs"]["evals"]
STEPS: list[dict[str, Any]] = JOB["steps"]
RUNS: list[str] = [step["run"] for step in STEPS if "run" in step]


def commands() -> list[list[str]]:
    """The words of every `wirewright` command, each `${NAME:+words}` as if the name were set."""
    found: list[list[str]] = []
    for run in RUNS:
        text = re.sub(r"\$\{\w+:\+([^}]*)\}", r"\1", run.replace("\\\n", " "))
        found += [line.split()[1:] for line in text.splitlines() if line.strip().startswith("wirewright ")]
    return found


def test_it_is_only_called_and_every_input_is_described_and_has_a_type() -> None:
    assert set(WORKFLOW[True]) == {"workflow_call"}
    for name, given in CALL["inputs"].items():
        assert given["description"], name
        assert given["type"] in ("string", "number", "boolean"), name
        assert given.get("required") or "default" in given, name
    assert [name for name, given in CALL["inputs"].items() if given.get("required")] == ["player"]


def test_every_input_and_secret_that_is_used_is_declared_and_the_other_way_round() -> None:
    text = PATH.read_text(encoding="utf-8")
    assert set(re.findall(r"\binputs\.(\w+)", text)) == set(CALL["inputs"])
    assert set(re.findall(r"\bsecrets\.(\w+)", text)) == set(CALL["secrets"])


def test_no_value_of_the_caller_is_put_into_a_script() -> None:
    assert not [run for run in RUNS if "${{" in run]
    for run in RUNS:
        names = re.findall(r"\$\{?([A-Z_]+)", run)
        known = {*JOB["env"], *(name for step in STEPS for name in step.get("env", {}))}
        assert set(names) <= known | {"GITHUB_ENV", "GITHUB_STEP_SUMMARY"}
        unquoted = re.sub(r'"[^"]*"', "", re.sub(r"\$\{\w+:\+", "", run))
        assert "$" not in unquoted, run


def test_it_may_only_read_and_its_actions_have_versions() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in STEPS if "uses" in step)
    assert JOB["timeout-minutes"]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_and_option_exists(words: list[str]) -> None:
    command: Any = get_command(command_line())
    rest = list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    known = {name for option in command.params for name in option.opts}
    used = {word for word in rest if word.startswith("--")}
    assert used <= known, used - known


def test_what_decides_is_the_play_and_it_is_reported_whatever_came_of_it() -> None:
    by_name = {step.get("name", step.get("uses")): step for step in STEPS}
    assert "if" not in by_name["Play"]
    for name in ("Report", "Comment", "actions/upload-artifact@v4"):
        assert cast("str", by_name[name]["if"]).startswith("always()")
