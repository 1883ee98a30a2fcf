"""`wirewright chat --flow` on the real engine: the flow's runs remember within the conversation."""

from functools import partial
from pathlib import Path

import pytest

from agent.assistant import Assistant
from agent.models.scripted import call
from tests.cli.conftest import Wirewright
from tests.shared.flow_texts import HISTORY
from tests.shared.scripted_assistant import ScriptedModel

FIRST = "before:  now: I am Ada"


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_a_flow_that_is_run_twice_in_a_chat_remembers(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chat() -> list[str]:
        replies = [
            ("run_flow", call("run_flow", 1, turn=turn, input=text), "Ran it.")
            for turn, text in enumerate(("I am Ada", "Who am I?"), start=1)
        ]
        model = ScriptedModel(*(reply for turn in replies for reply in turn))
        with monkeypatch.context() as patched:
            patched.setattr(Assistant, "open", partial(Assistant.open, model=model))
            talk = b"Run it with: I am Ada\nRun it with: Who am I?\n"
            done = wirewright("chat", "--flow", file, "--json", stdin=talk)
        assert done.code == 0, done.err
        return [line["data"]["run"]["output"] for line in done.lines if line["event"] == "complete"]

    file = tmp_path / "history.flow"
    file.write_text(HISTORY, encoding="utf-8")
    second = f"before: User: I am Ada\nAI: {FIRST} now: Who am I?"
    assert chat() == [FIRST, second]
    assert chat() == [FIRST, second]  # another conversation


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
@pytest.mark.parametrize("command", ["/reset", "/forget"])
def test_a_flow_remembers_nothing_after_its_conversation_is_reset(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    file = tmp_path / "history.flow"
    file.write_text(HISTORY, encoding="utf-8")
    turns = [("run_flow", call("run_flow", turn, input="I am Ada"), "Ran it.") for turn in (1, 2)]
    model = ScriptedModel(*(reply for turn in turns for reply in turn))
    monkeypatch.setattr(Assistant, "open", partial(Assistant.open, model=model))
    talk = f"Run it with: I am Ada\n{command}\nRun it with: I am Ada\n"
    done = wirewright("chat", "--flow", file, "--json", stdin=talk.encode())
    assert done.code == 0, done.err
    assert [line["data"]["run"]["output"] for line in done.lines if line["event"] == "complete"] == [FIRST, FIRST]
