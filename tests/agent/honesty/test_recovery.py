"""Flows written into an answer instead of being built."""

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.honesty.recovery import recover
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import play_all, scripted_assistant
from tests.shared.stand_ins import StandInRunner
from tools.events import FlowPreview, Progress
from tools.workbench import Workbench


@pytest.fixture(scope="module")
def bench(catalogue: Catalogue) -> Workbench:
    return Workbench(user="u", session="s", catalogue=catalogue, runner=StandInRunner(), flow=Flow.empty())


def fenced(flow: Flow) -> str:
    return f"Here is your flow:\n```json\n{json.dumps(flow.to_json())}\n```\nEnjoy."


@pytest.mark.anyio
async def test_flow_json_in_prose_is_checked_offered_and_logged(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    runner = StandInRunner()
    who, script = scripted_assistant(catalogue, "build_flow", fenced(flow_of(ECHO, catalogue)), runner=runner)
    with caplog.at_level(logging.WARNING):
        events, result = await play_all(who, "Build an echo")
    assert result.proposal is not None
    assert (result.text, len(runner.asked), script.replies) == ("Here is your flow:\nEnjoy.", 1, [])
    assert any(isinstance(event, FlowPreview) for event in events)
    assert any(isinstance(event, Progress) and event.step == "flow_proposal_ready" for event in events)
    assert "flow_builder.text_fallback" in caplog.messages


def test_bare_json_and_spec_text_are_found(bench: Workbench) -> None:
    bare = f"Sure. {json.dumps(flow_of(ECHO, bench.catalogue).to_json())} That is all."
    for text in (bare, f"```yaml\n{ECHO}```"):
        found = recover(text, bench)
        assert found is not None
        assert len(found.flow.nodes) == 2
        assert "nodes" not in found.text


def test_a_flow_with_errors_is_not_offered(bench: Workbench) -> None:
    document = json.loads(json.dumps(flow_of(ECHO, bench.catalogue).to_json()))
    document["data"]["edges"][0]["target"] = "Nobody-12345"
    assert recover(f"```json\n{json.dumps(document)}\n```", bench) is None
    assert recover("```yaml\nnodes:\n  a: Nonsense\n```", bench) is None
    assert recover('{"nodes": [], "edges": []}', bench) is None


def test_example_code_is_not_a_flow(bench: Workbench) -> None:
    text = 'Use this:\n```python\nclass A(Component):\n    nodes = {"a": 1}\n```'
    assert recover(text, bench) is None


@pytest.mark.anyio
async def test_an_answer_that_prints_the_flow_which_was_built_stays_as_it_is(catalogue: Catalogue) -> None:
    said = fenced(flow_of(ECHO, catalogue))
    who, _ = scripted_assistant(catalogue, "build_flow", call("build_flow", 1, spec=ECHO), said)
    assert (await play_all(who, "Build an echo"))[1].text == said


@given(st.text(alphabet='{}[]"nodesg:, `\n', max_size=120))
def test_no_text_breaks_the_recovery(bench: Workbench, text: str) -> None:
    recover(f"nodes {text}", bench)
