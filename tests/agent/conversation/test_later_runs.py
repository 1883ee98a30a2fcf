"""Before the engine is installed: a flow is built at once, and run as soon as the engine is there."""

import asyncio
from pathlib import Path

import pytest

from agent.assistant import Assistant
from agent.conversation.later_runs import LaterRuns
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from tests.shared.stand_ins import StandInRunner, ran
from tools.effects import RunEffect

pytestmark = pytest.mark.anyio


class InstallingRunner(StandInRunner):
    """A runner whose engine is installed when it is told so."""

    def __init__(self) -> None:
        super().__init__(results=[ran("hello")])
        self.state = "installing"
        self.installed = asyncio.Event()

    async def ready(self, timeout: float | None = None) -> bool:
        await self.installed.wait()
        self.state = "ready"
        return True


async def ask(who: Assistant, text: str) -> TurnResult:
    async with who.turn(TurnRequest(text=text, session="s")) as stream:
        events = [event async for event in stream]
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


async def test_a_flow_is_built_without_an_engine_and_run_once_it_is_there(tmp_path: Path) -> None:
    runner = InstallingRunner()
    settings = AssistantSettings(model="demo", cache=tmp_path, data=tmp_path)
    who = Assistant(settings, runner, waits_for_engine=False)
    first = await asyncio.wait_for(ask(who, "Build an echo flow"), 10)
    assert first.proposal is not None
    assert [caveat for caveat in first.caveats if "not run yet" in caveat]
    assert runner.asked == []
    assert "ChatInput" in (await asyncio.wait_for(ask(who, "What does the Chat Input component do?"), 10)).text
    runner.installed.set()
    await asyncio.wait_for(runner.running.wait(), 10)
    await asyncio.sleep(0.05)
    third = await ask(who, "thanks")
    assert [run.output for run in third.record.runs] == ["hello"]
    assert (await ask(who, "thanks")).record.runs == []
    await who.aclose()


async def test_an_assistant_that_is_closed_gives_up_what_waits(tmp_path: Path) -> None:
    runner = InstallingRunner()
    who = Assistant(AssistantSettings(model="demo", cache=tmp_path, data=tmp_path), runner, waits_for_engine=False)
    await ask(who, "Build an echo flow")
    await asyncio.wait_for(who.aclose(), 5)
    assert runner.asked == []


async def test_only_the_last_flow_of_a_conversation_is_run() -> None:
    runner, seen = InstallingRunner(), list[str]()
    later = LaterRuns(runner)

    def verify(name: str):
        async def runs() -> list[RunEffect]:
            seen.append(name)
            return [RunEffect(by="verification", output=name)]

        return runs

    later.add("u", "s", verify("first"))
    later.add("u", "s", verify("second"))
    later.add("u", "other", verify("third"))
    assert later.take("u", "s") == []
    runner.installed.set()
    await asyncio.sleep(0.05)
    assert sorted(seen) == ["second", "third"]
    assert [run.output for run in later.take("u", "s")] == ["second"]
    assert later.take("u", "s") == []
    await later.aclose()
