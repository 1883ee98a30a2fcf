"""One agent for each way in which an agent can fail: each is a failed attempt with its reason, and none is left out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from agent.contract.requests import STREAM_PATH
from agent.turn.request import TurnRequest
from evals.analysis.tally import tally
from evals.attempt import Attempt
from evals.play.attempts import AttemptLimits, play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.function import FunctionPlayer
from evals.players.http import HttpPlayer
from evals.report.summary import summary
from evals.score import score_attempt
from flows.catalogue import Catalogue
from tests.evals.conftest import scenario_named
from tests.shared.wires import Answering

pytestmark = pytest.mark.anyio

GROW = scenario_named("grow")
MESSAGES = len(GROW.turns)
SECONDS = 12345.0
"""A limit that no test reaches by itself."""

Agent = Callable[[TurnRequest], Awaitable[Any]]


class OddFailure(BaseException):
    """What an agent's library may raise that is no `Exception`."""


async def raises(_: TurnRequest) -> Any:
    raise ValueError("too hard")


async def raises_what_is_no_exception(_: TurnRequest) -> Any:
    raise OddFailure("too odd")


async def leaves_an_unreadable_flow(_: TurnRequest) -> Any:
    return {"flow": {"data": {"nodes": [3]}}, "text": "I built it."}


async def is_over_budget(_: TurnRequest) -> Any:
    return {"text": "Hm.", "tokens": {"input": 900, "output": 200}}


AGENTS: dict[str, tuple[Agent, str]] = {
    "exception": (raises, "it raised ValueError: too hard"),
    "base exception": (raises_what_is_no_exception, "it raised OddFailure: too odd"),
    "unreadable flow": (leaves_an_unreadable_flow, "an unreadable `flow`"),
    "over budget": (is_over_budget, "token"),
}


def assert_failed(attempt: Attempt, reason: str, catalogue: Catalogue) -> None:
    """Hold that an attempt is judged, fails in the headline, and says why."""
    verdict = score_attempt(GROW, attempt, catalogue)
    assert (attempt.harness_error, verdict.passed, verdict.value("finished")) == (None, False, False)
    assert reason in verdict.why
    assert summary(tally([verdict]), 0.0) == "passed 0 of 1 (0%)"


@pytest.mark.parametrize(("agent", "reason"), AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("message", [1, 2], ids=["at once", "later"])
async def test_an_agent_that_fails_at_a_message_has_failed_the_attempt(
    agent: Agent, reason: str, message: int, environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    taken: list[TurnRequest] = []

    async def fails_at(request: TurnRequest) -> Any:
        taken.append(request)
        return await agent(request) if len(taken) == message else {"text": "Hm.", "tokens": {"input": 0, "output": 0}}

    limits = AttemptLimits(tokens=1000)
    attempt = await play_attempt(GROW, FunctionPlayer(fails_at, "mine"), environment, limits=limits)
    assert len(taken) == message < MESSAGES, "what comes later is not played"
    assert_failed(attempt, reason, catalogue)


@pytest.mark.parametrize("message", [1, 2, MESSAGES], ids=["at once", "later", "at the end"])
async def test_an_agent_whose_time_is_up_at_a_message_has_failed_the_attempt(
    message: int, environment: PlayEnvironment, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks: list[asyncio.Timeout] = []
    real, taken = asyncio.timeout, list[TurnRequest]()

    def timeout(seconds: float | None) -> asyncio.Timeout:
        made = real(seconds)
        if seconds == SECONDS:
            clocks.append(made)
        return made

    async def hangs(request: TurnRequest) -> dict[str, object]:
        taken.append(request)
        if len(taken) == message:
            clocks[0].reschedule(asyncio.get_running_loop().time())  # the time is up now, whatever the machine does
            await asyncio.Event().wait()
        return {"text": "Hm."}

    monkeypatch.setattr(asyncio, "timeout", timeout)
    limits = AttemptLimits(seconds=SECONDS)
    attempt = await play_attempt(GROW, FunctionPlayer(hangs, "mine"), environment, limits=limits)
    assert (attempt.stopped, attempt.asked) == ("timeout", list(range(message)))
    assert_failed(attempt, "time", catalogue)


async def unwell(_: Request) -> Response:
    return Response("out of order", status_code=500)


async def hangs_up(_: Request) -> Response:
    async def half() -> AsyncIterator[bytes]:
        yield b'data: {"event": "progress"}\n\n'
        raise ConnectionResetError

    return StreamingResponse(half(), media_type="text/event-stream")


async def sends_an_unreadable_flow(_: Request) -> Response:
    ending = '{"event": "complete", "data": {"result": "I built it.", "flow": {"data": {"nodes": [3]}}}}'
    return Response(f"data: {ending}\n\n", media_type="text/event-stream")


SERVERS = {
    "status 500": (unwell, "the server answered 500: out of order"),
    "hangs up": (hangs_up, "the request failed (RemoteProtocolError)"),
    "unreadable flow": (sends_an_unreadable_flow, "does not fit the contract"),
}


@pytest.mark.parametrize(("answer", "reason"), SERVERS.values(), ids=SERVERS)
async def test_a_server_that_fails_has_failed_the_attempt(
    answer: Callable[[Request], Awaitable[Response]], reason: str, environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    answering = Answering()
    answering.app = Starlette(routes=[Route(STREAM_PATH, answer, methods=["POST"])])
    async with answering.serve() as address:
        attempt = await play_attempt(GROW, HttpPlayer(address), environment)
    assert_failed(attempt, reason, catalogue)


async def test_a_server_that_refuses_the_connection_has_failed_the_attempt(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    async with Answering().serve() as address:
        pass  # nobody listens there any more
    attempt = await play_attempt(GROW, HttpPlayer(address), environment)
    assert_failed(attempt, "the request failed (ConnectError)", catalogue)
