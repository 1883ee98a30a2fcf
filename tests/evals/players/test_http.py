"""An agent of somebody else over HTTP: what it may send, and what is said when it sends something else."""

from collections.abc import Awaitable, Callable

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.requests import STREAM_PATH
from agent.turn.result import TurnResult
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.http import HttpPlayer
from tests.evals.conftest import scenario_named
from tests.shared.wires import Answering

pytestmark = pytest.mark.anyio

DONE = '{"event": "complete", "data": {"result": "I built it."}}'


async def played(answer: Callable[[Request], Awaitable[Response]], environment: PlayEnvironment) -> TurnResult:
    """The turn of an agent that answers every request so."""
    answering = Answering()
    answering.app = Starlette(routes=[Route(STREAM_PATH, answer, methods=["POST"])])
    async with answering.serve() as address:
        attempt = await play_attempt(scenario_named("echo-wired"), HttpPlayer(address), environment)
    [turn] = attempt.turns
    return turn


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        (['{"event": "progress", "data": {"step": "thinking"}}', DONE], None),
        (['{"event": "progress"}', '{"event": "mine", "data": 1}', DONE], None),
        (
            ['{"event": "complete", "data": {"usage": {"input_tokens": "many"}}}'],
            "the event 'complete' does not fit the contract: data.usage.input_tokens: ",
        ),
        (["hello"], "an event is not JSON: 'hello'"),
        (["{}"], "the event None does not fit the contract: "),
        (['{"event": "progress", "data": {}}'], 'a line `data: {"event": "complete", "data": {…}}` must come'),
    ],
)
async def test_what_a_server_sends_besides_its_ending_is_its_own_and_an_ending_that_is_wrong_says_where(
    events: list[str], reason: str | None, environment: PlayEnvironment
) -> None:
    async def stream(_: Request) -> Response:
        return Response("".join(f"data: {one}\n\n" for one in events), media_type="text/event-stream")

    turn = await played(stream, environment)
    if reason is None:
        assert (turn.error, turn.text) == (None, "I built it.")
    else:
        assert turn.error is not None
        assert reason in turn.error.message


async def test_an_answer_in_one_piece_says_what_must_come(environment: PlayEnvironment) -> None:
    async def answer(_: Request) -> Response:
        return Response(DONE, media_type="application/json")

    turn = await played(answer, environment)
    assert turn.error is not None
    assert turn.error.message.endswith("must come (the content type is application/json)")
