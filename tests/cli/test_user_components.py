"""Components that a user made, on the real engine: used in later messages, in other conversations, after a reset."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent.assistant import Assistant
from agent.models.scripted import call
from tests.cli.conftest import Done, Wirewright
from tests.shared.scripted_assistant import ScriptedModel, Step

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("warm_engine")]

SOURCE = """from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.message import Message


class Reverser(Component):
    display_name = "Reverser"
    description = "Reverses a text."
    inputs = [MessageTextInput(name="text", display_name="Text")]
    outputs = [Output(name="reversed", display_name="Reversed", method="reverse")]

    def reverse(self) -> Message:
        return Message(text=self.text[::-1])
"""
SPEC = """name: Backwards
nodes:
  chat: ChatInput
  back: Reverser
  answer: ChatOutput
edges:
  chat.message -> back.text
  back.reversed -> answer.input_value
"""
MAKE: tuple[Step, ...] = ("generate_component", call("generate_component", 1, source=SOURCE), "Reverser is there.")
BUILD: tuple[Step, ...] = (
    "build_flow",
    call("build_flow", 2, spec=SPEC),
    call("run_flow", 3, input="abc"),
    "It says cba.",
)
MAKES = "Write a component that reverses a text"
BUILDS = "Build a flow with Reverser and run it with abc"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Gives the next commands a model that follows a script."""

    def follow(*replies: Step) -> ScriptedModel:
        model = ScriptedModel(*replies)
        monkeypatch.setattr(Assistant, "open", partial(ORIGINAL, model=model))
        return model

    return follow


ORIGINAL = Assistant.open


def outputs(done: Done) -> list[str | None]:
    """The output of each turn's run."""
    assert done.code == 0, done.err
    ends = [line["data"] for line in done.lines if line["event"] == "complete"]
    return [end["run"]["output"] if end.get("run") else None for end in ends]


def test_a_component_is_used_in_a_later_message(wirewright: Wirewright, script: Any) -> None:
    script(*MAKE, *BUILD)
    done = wirewright("chat", "--json", stdin=f"{MAKES}\n{BUILDS}\n".encode())
    assert outputs(done) == [None, "cba"]


def test_a_component_is_used_in_another_conversation(wirewright: Wirewright, script: Any, tmp_path: Path) -> None:
    script(*MAKE, *BUILD)
    target = tmp_path / "backwards.json"
    assert outputs(wirewright("ask", MAKES, "--json")) == [None]
    assert outputs(wirewright("ask", BUILDS, "--out", target, "--json")) == ["cba"]
    assert wirewright("flow", "check", target, "--json").json["ok"] is True
    assert wirewright("flow", "run", target, "--input", "xyz").out == "zyx\n"


def test_a_flow_with_a_component_is_worked_on_after_the_conversation_is_reset(
    wirewright: Wirewright, script: Any, tmp_path: Path
) -> None:
    script(*MAKE, *BUILD)
    target = tmp_path / "backwards.json"
    wirewright("ask", MAKES)
    wirewright("ask", BUILDS, "--out", target)
    script("run_flow", call("run_flow", 1, input="one"), "Ran.", "run_flow", call("run_flow", 2, input="two"), "Ran.")
    done = wirewright("chat", "--flow", target, "--json", stdin=b"Run it with: one\n/reset\nRun it with: two\n")
    assert outputs(done) == ["eno", "owt"]
    script(*BUILD)
    assert outputs(wirewright("ask", BUILDS, "--json")) == ["cba"], "the canvas uses it, so it was kept"


def test_a_component_that_no_flow_uses_is_gone_after_a_reset(wirewright: Wirewright, script: Any) -> None:
    model = script(*MAKE, "build_flow", call("build_flow", 2, spec=SPEC), "It is not there.", "It is not there.")
    done = wirewright("chat", "--json", stdin=f"{MAKES}\n/reset\n{BUILDS}\n".encode())
    assert outputs(done)[-1] is None
    assert "Reverser" in json.dumps([*model.tool_answers(-1), str(model.requests[-1][-1])])
    assert not any(line["data"]["record"]["proposal"] for line in done.lines if line["event"] == "complete")


def test_the_text_of_a_flow_may_name_a_component_that_the_user_made(
    wirewright: Wirewright, script: Any, tmp_path: Path
) -> None:
    spec = tmp_path / "backwards.flow"
    spec.write_text(SPEC, encoding="utf-8")
    unknown = wirewright("flow", "check", spec, "--json")
    assert [fault["code"] for fault in unknown.json["faults"]] == ["unknown_type"]
    script(*MAKE)
    wirewright("ask", MAKES)
    assert wirewright("flow", "check", spec, "--json").json == {"ok": True, "faults": []}
    assert wirewright("flow", "run", spec, "--input", "abc").out == "cba\n"
    script("run_flow", call("run_flow", 1, input="one"), "Ran.")
    assert outputs(wirewright("ask", "Run it with: one", "--flow", spec, "--json")) == ["eno"]
