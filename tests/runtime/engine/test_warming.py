"""What the engine does while nobody waits: runs of every kind work before, meanwhile and afterwards."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import last_prompt, scripted
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from runtime.engine.supervisor import check_starts
from runtime.gateway.models import Models
from runtime.install.environment import RunnerEnvironment
from runtime.install.errors import InstallError
from runtime.runner import Runner
from tests.runtime.conftest import FakeEnvironment
from tests.shared.flow_texts import MODEL

pytestmark = pytest.mark.anyio

ASKING = MODEL + "config:\n  m.model: claude-x\n"


def echoing(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart(f"You said {last_prompt(messages)}.")])


MODELS = Models(resolve=lambda name: scripted(echoing, name))


@pytest.fixture
async def fresh(runner_environment: RunnerEnvironment) -> AsyncIterator[Runner]:
    """An engine that has just started."""
    async with Runner(runner_environment, concurrency=2) as made:
        assert await made.ready(180)
        yield made


@pytest.fixture
def asking(installed_catalogue: Catalogue) -> Flow:
    built = build(ASKING, installed_catalogue)
    assert built.flow is not None, built.faults
    return built.flow


def waiting(runner: Runner) -> set[str]:
    """The processes that wait ready."""
    found = Path(f"/proc/{runner.engine_pid}/task/{runner.engine_pid}/children").read_text(encoding="ascii")
    return set(found.split())


@pytest.mark.engine
async def test_a_run_that_calls_models_may_be_the_first_of_all(fresh: Runner, asking: Flow, echo: Flow) -> None:
    asked, plain = await asyncio.gather(fresh.run(asking, "one", models=MODELS), fresh.run(echo, "two"))
    assert (asked.output, plain.output) == ("You said one.", "two")


@pytest.mark.engine
@pytest.mark.skipif(sys.platform != "linux", reason="tells the processes of the engine by /proc")
async def test_waiting_processes_are_replaced_and_serve_every_kind_of_run(
    fresh: Runner, asking: Flow, echo: Flow
) -> None:
    assert (await fresh.run(echo, "before")).output == "before"
    seen, now = set[str](), waiting(fresh)
    with anyio.fail_after(400):
        while len(now) != 2:  # the process of the run is ending
            await asyncio.sleep(0.01)
            now = waiting(fresh)
        first = now
        while len(now) != 2 or now & first or len(seen | first) < 6:  # after both steps, each is the third in its place
            await asyncio.sleep(0.01)  # the second step may follow the first at once
            now = waiting(fresh)
            seen |= now
    for text in ("after", "again"):
        assert (await fresh.run(echo, text)).output == text
        assert (await fresh.run(asking, text, models=MODELS)).output == f"You said {text}."


async def test_an_engine_that_cannot_call_models_is_not_an_engine_for_bundles(
    fake: Callable[[str], FakeEnvironment],
) -> None:
    answers = 'say(HELLO)\nfor request in requests():\n    if "id" in request: say(request)\n'
    await check_starts(fake(answers))
    ends = 'say(HELLO)\nfor request in requests():\n    assert request["type"] != "warm"\n'
    with pytest.raises(InstallError, match="cannot call models with these bundles"):
        await check_starts(fake(ends))
