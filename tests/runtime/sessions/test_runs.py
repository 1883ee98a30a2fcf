"""Runs of one session on the real engine: what they remember, of whom, and what a hostile component cannot do."""

import asyncio
from collections.abc import Callable

import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import scripted
from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from flows.spec import build
from runtime.gateway.models import Models
from runtime.results import RunResult
from runtime.runner import Runner
from runtime.sessions.memory import RunMessages
from runtime.sessions.messages import read_changes
from runtime.sessions.store import FlowSessions
from tests.flow_texts import AGENT
from tests.runtime.unguarded import run_unguarded

MakeCode = Callable[[str], JsonObject]
pytestmark = [pytest.mark.anyio, pytest.mark.engine]

FIRST = "before:  now: I am Ada"


async def asked(
    runner: Runner,
    flow: Flow,
    text: str,
    session: str | None,
    sessions: FlowSessions,
    *,
    owner: str = "ada",
    key: str = "f",
) -> str:
    """The output of a run of an owner's flow in a session."""
    memory = sessions.memory(owner, key, session or "")
    result = await runner.run(flow, text, session=session, memory=memory)
    assert result.error is None
    assert result.output is not None
    return result.output


async def test_a_second_run_of_a_session_has_the_messages_of_the_first(
    runner: Runner, history: Flow, sessions: FlowSessions
) -> None:
    assert await asked(runner, history, "I am Ada", "s", sessions) == FIRST
    assert await asked(runner, history, "Who am I?", "s", sessions) == (
        f"before: User: I am Ada\nAI: {FIRST} now: Who am I?"
    )


async def test_another_session_user_or_flow_has_none_of_them(
    runner: Runner, history: Flow, sessions: FlowSessions
) -> None:
    await asked(runner, history, "I am Ada", "s", sessions)
    assert await asked(runner, history, "I am Ada", "t", sessions) == FIRST
    assert await asked(runner, history, "I am Ada", "s", sessions, owner="bob") == FIRST
    assert await asked(runner, history, "I am Ada", "s", sessions, key="g") == FIRST
    assert await asked(runner, history, "I am Ada", None, sessions) == FIRST
    assert [entry.session for entry in await sessions.entries("ada", "f")] == ["t", "s"]


async def test_a_runner_without_a_store_remembers_while_it_is_open(runner: Runner, history: Flow) -> None:
    assert (await runner.run(history, "I am Ada", session="kept here")).output == FIRST
    second = await runner.run(history, "And?", session="kept here")
    assert second.output is not None
    assert "User: I am Ada" in second.output
    assert (await runner.run(history, "I am Ada", session="another")).output == FIRST


async def test_an_agent_remembers_what_was_said(
    runner: Runner, sessions: FlowSessions, installed_catalogue: Catalogue
) -> None:
    flow = build(AGENT, installed_catalogue).flow
    assert flow is not None
    heard: list[list[str]] = []

    def plan(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        parts = [part for message in messages for part in message.parts]
        heard.append([str(part.content) for part in parts if part.part_kind in ("user-prompt", "text")])
        return ModelResponse(parts=[TextPart(f"answer {len(heard)}")])

    models = Models(resolve=lambda name: scripted(plan, name))
    for text in ("I am Ada", "Who am I?"):
        memory = sessions.memory("ada", "f", "s")
        result = await runner.run(flow, text, session="s", memory=memory, models=models)
        assert result.error is None
    assert heard == [["I am Ada"], ["I am Ada", "answer 1", "Who am I?"]]
    kept = [(each.sender, each.text) for each in await sessions.messages("ada", "f", "s")]
    assert kept == [("User", "I am Ada"), ("Machine", "answer 1"), ("User", "Who am I?"), ("Machine", "answer 2")]


async def test_a_verification_run_neither_reads_nor_writes_messages(
    runner: Runner, history: Flow, sessions: FlowSessions
) -> None:
    await asked(runner, history, "I am Ada", "s", sessions)
    before = await sessions.messages("ada", "f", "s")
    memory = sessions.memory("ada", "f", "s")
    probe = await runner.run(history, "probe", session="s", memory=memory, network="gateway-only")
    assert probe.output == "before:  now: probe"
    assert await sessions.messages("ada", "f", "s") == before


async def test_runs_of_one_session_at_once_lose_nothing(runner: Runner, history: Flow, sessions: FlowSessions) -> None:
    texts = [f"message {number}" for number in range(6)]
    await asyncio.gather(*(asked(runner, history, text, "s", sessions) for text in texts))
    kept = await sessions.messages("ada", "f", "s")
    assert sorted(each.text for each in kept if each.sender == "User") == texts
    assert len({each.id for each in kept}) == len(kept) == 12


async def test_a_run_that_fails_leaves_no_messages(
    runner: Runner, sessions: FlowSessions, installed_catalogue: Catalogue
) -> None:
    flow = build(AGENT, installed_catalogue).flow
    assert flow is not None

    def fail(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        raise RuntimeError("no")

    memory = sessions.memory("ada", "f", "s")
    models = Models(resolve=lambda name: scripted(fail, name))
    result = await runner.run(flow, "hello", session="s", memory=memory, models=models)
    assert result.error is not None
    assert await sessions.messages("ada", "f", "s") == []


READ = """
import lfx.memory as memory
found = []
for session in ("mine", "other", None, ""):
    found += [each.text for each in memory.get_messages(session_id=session)]
return Data(data={"found": found})
"""
WRITE = """
import lfx.memory as memory
memory.store_message(Message(text="planted", sender="Machine", sender_name="AI", session_id="other"))
memory.store_message(Message(text="own", sender="Machine", sender_name="AI", session_id="mine"))
memory.delete_messages(session_id="other")
memory.delete_messages(session_id="mine")
memory.store_message(Message(text="after", sender="Machine", sender_name="AI", session_id="mine"))
import sys
state = sys.modules["lfx_runner.memory"]._current
state.changes = lambda: {
    "stored": [{"id": "victim", "sender": "User", "text": "changed", "session": "other", "owner": "bob"}, 7],
    "deleted": ["victim", "known"],
}
return Data(data={})
"""


async def hostile(runner: Runner, code: JsonObject, messages: RunMessages) -> RunResult:
    result = await run_unguarded(runner, code, want_nodes=True, session="mine", messages=messages)
    assert result.error is None
    return result


async def test_a_hostile_component_reads_only_the_messages_of_its_session(
    runner: Runner, make_code: MakeCode, sessions: FlowSessions, history: Flow
) -> None:
    for session in ("mine", "other"):
        await asked(runner, history, f"secret of {session}", session, sessions)
    given = await sessions.messages("ada", "f", "mine")
    result = await hostile(runner, make_code(READ), RunMessages(given))
    [node] = result.nodes.values()
    assert "secret of mine" in str(node)
    assert "secret of other" not in str(node)


async def test_a_hostile_component_changes_only_the_messages_that_its_run_was_given(
    runner: Runner, make_code: MakeCode, sessions: FlowSessions, history: Flow
) -> None:
    for session in ("mine", "other"):
        await asked(runner, history, "hello", session, sessions)
    other = await sessions.messages("ada", "f", "other")
    messages = RunMessages(await sessions.messages("ada", "f", "mine"))
    await hostile(runner, make_code(WRITE.replace("victim", other[0].id)), messages)
    changes = read_changes(messages.reported, messages.given)
    assert not changes.changed
    assert not changes.deleted
    assert [each.text for each in changes.added] == ["changed"]
    await sessions.save("ada", "f", "mine", changes)
    assert await sessions.messages("ada", "f", "other") == other
    assert len(await sessions.messages("ada", "f", "mine")) == 3
