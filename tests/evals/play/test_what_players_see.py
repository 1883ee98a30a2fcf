"""Players see what a user would send, and nothing of the scenario beside it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agent.contract.requests import AssistRequest
from agent.turn.request import TurnRequest
from evals.play.addresses import with_addresses
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.function import FunctionPlayer
from evals.scenario import Scenario
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.evals.conftest import scenarios

pytestmark = pytest.mark.anyio

SAMPLE = [one for one in scenarios() if not one.components][::9]
FROM_THE_USER = {"text", "session", "user", "flow"}
"""What a message without approvals has: words, a conversation, whose it is, and the canvas."""


async def requests_of(scenario: Scenario, environment: PlayEnvironment) -> tuple[Scenario, list[TurnRequest]]:
    """What an agent that does nothing is sent, and the scenario with the addresses that its services had."""
    sent: list[TurnRequest] = []

    async def agent(request: TurnRequest) -> Mapping[str, Any]:
        sent.append(request)
        return {"text": ""}

    attempt = await play_attempt(scenario, FunctionPlayer(agent, "mine"), environment)
    assert attempt.harness_error is None
    return with_addresses(scenario, attempt.services), sent


def expected_canvases(scenario: Scenario, catalogue: Catalogue) -> list[Flow]:
    """The canvas beside each message, where nothing is changed but by the user's hand."""
    canvas = Flow.empty() if scenario.canvas is None else read_flow(scenario.canvas, catalogue)
    found: list[Flow] = []
    for turn in scenario.turns:
        canvas = canvas if turn.edit is None else read_flow(turn.edit, catalogue)
        found.append(canvas)
    return found


@pytest.mark.parametrize("scenario", SAMPLE, ids=lambda scenario: scenario.id)
async def test_a_request_has_the_message_and_the_canvas_and_nothing_else_of_the_scenario(
    scenario: Scenario, environment: PlayEnvironment, full_catalogue: Catalogue
) -> None:
    given, sent = await requests_of(scenario, replace(environment, catalogue=full_catalogue))
    assert [request.text for request in sent] == [turn.say for turn in given.turns]
    canvases = [request.flow or Flow.empty() for request in sent]
    assert canvases == expected_canvases(given, full_catalogue)
    for request in sent:
        plain = TurnRequest(text=request.text, session=request.session)
        set_fields = {name for name in TurnRequest.model_fields if getattr(request, name) != getattr(plain, name)}
        assert set_fields <= FROM_THE_USER
        body = AssistRequest.of(request).model_dump(mode="json", exclude_defaults=True)
        assert set(body) <= {"input_value", "session_id", "flow", "apply"}


async def test_the_same_conversation_holds_an_attempt_together_and_says_nothing_of_it(
    environment: PlayEnvironment,
) -> None:
    scenario = next(one for one in SAMPLE if len(one.turns) > 1)
    first, second = [(await requests_of(scenario, environment))[1] for _ in range(2)]
    sessions = [{request.session for request in sent} for sent in (first, second)]
    users = [{request.user for request in sent} for sent in (first, second)]
    assert [len(found) for found in (*sessions, *users)] == [1, 1, 1, 1]
    assert sessions[0] != sessions[1]
    assert users[0] != users[1]
    names = json.dumps([sorted(found) for found in (*sessions, *users)])
    assert not [word for word in (scenario.id, scenario.digest, *scenario.tags) if word in names]
