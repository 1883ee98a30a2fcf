"""The assistant's own runs remember within their conversation, on the real engine; what it tries out does not count."""

import pytest

from agent.assistant import Assistant
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.files.folders import LOCAL_USER
from runtime.runner import Runner
from server.settings import ServerSettings
from tests.shared.flow_texts import HISTORY, flow_of
from tests.shared.scripted_assistant import ScriptedModel, play

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

FIRST = "before:  now: I am Ada"
SECOND = f"before: User: I am Ada\nAI: {FIRST} now: Who am I?"


async def ran(engine: Runner, catalogue: Catalogue, text: str, flow: Flow, **request: str) -> str | None:
    """The output of a run in a turn of its own, by an assistant of its own over the same data."""
    model = ScriptedModel("run_flow", call("run_flow", 1, input=text), "Ran it.")
    who = Assistant(ServerSettings(), engine, catalogue=catalogue, model=model)
    try:
        result = await play(who, f"Run it with: {text}", flow, **request)
    finally:
        await who.aclose()
    [run] = result.runs
    return run.output


async def test_a_second_run_in_a_conversation_remembers_the_first(engine: Runner, catalogue: Catalogue) -> None:
    flow = flow_of(HISTORY, catalogue)
    assert await ran(engine, catalogue, "I am Ada", flow, session="s") == FIRST
    assert await ran(engine, catalogue, "Who am I?", flow, session="s") == SECOND
    assert await ran(engine, catalogue, "I am Ada", flow, session="t") == FIRST
    assert await ran(engine, catalogue, "I am Ada", flow, session="s", user="bob") == FIRST


async def test_a_stored_flow_is_remembered_by_its_id(engine: Runner, catalogue: Catalogue) -> None:
    flow = flow_of(HISTORY, catalogue)
    assert await ran(engine, catalogue, "I am Ada", flow, session="s", flow_id="one") == FIRST
    assert await ran(engine, catalogue, "I am Ada", flow, session="s", flow_id="two") == FIRST
    assert await ran(engine, catalogue, "Who am I?", flow, session="s", flow_id="one") == SECOND


async def test_resetting_a_conversation_forgets_what_its_runs_remembered(engine: Runner, catalogue: Catalogue) -> None:
    flow = flow_of(HISTORY, catalogue)
    for session in ("s", "t"):
        await ran(engine, catalogue, "I am Ada", flow, session=session)
    who = Assistant(ServerSettings(), engine, catalogue=catalogue)
    await who.drop_plan(LOCAL_USER, "s")
    assert await ran(engine, catalogue, "Who am I?", flow, session="s") == SECOND
    await who.reset(LOCAL_USER, "s")
    await who.aclose()
    assert await ran(engine, catalogue, "I am Ada", flow, session="s") == FIRST
    assert await ran(engine, catalogue, "Who am I?", flow, session="t") == SECOND


async def test_verifying_a_build_leaves_no_messages(engine: Runner, catalogue: Catalogue) -> None:
    model = ScriptedModel(
        "build_flow", call("build_flow", 1, spec=HISTORY), call("run_flow", 2, input="I am Ada"), "Built and ran it."
    )
    who = Assistant(ServerSettings(), engine, catalogue=catalogue, model=model)
    result = await play(who, "Build it and run it with: I am Ada", session="s")
    await who.aclose()
    [run] = result.runs
    assert run.output == FIRST
