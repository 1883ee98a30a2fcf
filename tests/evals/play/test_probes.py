"""Probes that are run again: bounded, and with the addresses of services that are served anew."""

import copy

import pytest

from evals.play.addresses import with_other_addresses
from evals.play.environment import PlayEnvironment
from evals.play.probes import PROBE_ITERATIONS, open_rerun
from flows.document import Flow
from tests.evals.conftest import Played, scenario_named


@pytest.mark.engine
@pytest.mark.anyio
async def test_a_flow_that_goes_round_for_ever_is_stopped_soon(
    engine_environment: PlayEnvironment, played: Played
) -> None:
    scenario = scenario_named("echo")
    attempt = played(scenario, scenario.reference)
    assert attempt.flow is not None
    round_and_round = copy.deepcopy(attempt.flow.to_json())
    [edge] = round_and_round["data"]["edges"]
    back = {"id": "back", "source": edge["target"], "target": edge["source"], "data": copy.deepcopy(edge["data"])}
    back["data"]["sourceHandle"] |= {"id": edge["target"], "dataType": "ChatOutput"}
    back["data"]["targetHandle"] |= {"id": edge["source"]}
    round_and_round["data"]["edges"].append(back)
    async with open_rerun(scenario, attempt, engine_environment) as rerun:
        probed = await rerun.with_flow(Flow.from_json(round_and_round))
        assert probed.probes
        for run in probed.probes:
            assert run.error is not None
            assert run.error.code == "limit"
            assert str(PROBE_ITERATIONS) in run.error.message
        assert [run.error for run in (await rerun.with_flow(None)).probes] == [None] * len(probed.probes)


def test_addresses_are_exchanged_all_at_once_and_as_wholes() -> None:
    before = {"a": "http://127.0.0.1:4000", "b": "http://127.0.0.1:5000", "gone": "http://127.0.0.1:6000"}
    after = {"a": "http://127.0.0.1:5000", "b": "http://127.0.0.1:4000"}
    text = "http://127.0.0.1:4000/x http://127.0.0.1:5000 http://127.0.0.1:40001 http://127.0.0.1:6000"
    shown = "http://127.0.0.1:5000/x http://127.0.0.1:4000 http://127.0.0.1:40001 http://127.0.0.1:6000"
    assert with_other_addresses(text, before, after) == shown
    assert with_other_addresses(with_other_addresses(text, before, after), after, before) == text
    assert with_other_addresses(text, {}, after) == text
