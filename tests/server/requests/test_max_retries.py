"""`max_retries` of a request: how many attempts at something that passes its checks a turn has."""

import pytest

from agent.contract.requests import AssistRequest
from agent.models.scripted import call
from agent.turn.request import TurnRequest
from flows.catalogue import Catalogue
from tests.server.live import events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant

BROKEN = [f"name: Broken {number}\nnodes:\n  a: Nothing{number}\n" for number in range(3)]


@pytest.mark.anyio
@pytest.mark.parametrize(("sent", "attempts"), [(1, 1), (2, 2), (3, 3), (None, 3), (0, 1), (9, 3)])
async def test_a_turn_tries_to_build_as_often_as_the_request_allows(
    sent: int | None, attempts: int, catalogue: Catalogue
) -> None:
    builds = [[call("build_flow", number, spec=spec)] for number, spec in enumerate(BROKEN[:attempts])]
    model = ScriptedModel("build_flow", *builds, "It could not be built.", "It could not be built.")
    request: dict[str, object] = {"input_value": "Build something", "max_retries": sent}
    async with serving(assistant(catalogue, model)) as live:
        streamed = await events(live.client, **request)
    tried = [
        (event["attempt"], event["max_attempts"]) for event in streamed if event.get("step") == "flow_build_failed"
    ]
    assert tried == [(number, attempts) for number in range(1, attempts + 1)]
    assert streamed[-1]["data"]["result"].startswith("It could not be built.")


@pytest.mark.anyio
@pytest.mark.parametrize(("answering", "attempts"), [(None, 1), (2, 2)])
async def test_answers_keep_the_attempts_of_the_request_unless_they_name_others(
    answering: int | None, attempts: int, catalogue: Catalogue
) -> None:
    plan = [call("propose_plan", 9, markdown="1. Read\n2. Answer")]
    builds = [[call("build_flow", number, spec=spec)] for number, spec in enumerate(BROKEN[:attempts])]
    model = ScriptedModel("build_flow", plan, *builds, "It could not be built.", "It could not be built.")
    async with serving(assistant(catalogue, model)) as live:
        asked = await events(live.client, input_value="Build something", session_id="s", max_retries=1)
        [waiting] = asked[-1]["data"]["approvals"]
        answer: dict[str, object] = {"approvals": {waiting["id"]: {"decision": "approve"}}}
        streamed = await events(live.client, session_id="s", max_retries=answering, **answer)
    tried = [
        (event["attempt"], event["max_attempts"]) for event in streamed if event.get("step") == "flow_build_failed"
    ]
    assert tried == [(number, attempts) for number in range(1, attempts + 1)]


def test_a_request_in_python_sends_its_attempts() -> None:
    assert AssistRequest.of(TurnRequest(text="x", max_attempts=2)).max_attempts == 2
    assert AssistRequest.of(TurnRequest(text="x")).max_retries is None
