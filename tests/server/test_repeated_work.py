"""What turns and runs over HTTP do only once: parsing a flow, asking for the engine, checking a flow."""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from agent.models.scripted import call
from flows import checks
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.faults import Fault
from tests.server.live import events, played, serving
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


@dataclass(eq=False)
class CountingRunner(StandInRunner):
    """Counts how often it is asked whether it is ready."""

    times_asked: int = 0

    async def ready(self, timeout: float | None = None) -> bool:
        self.times_asked += 1
        return await super().ready(timeout)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> "Counter[str]":
    """How often each document was parsed as a flow."""
    times = Counter[str]()
    parse = Flow.from_json

    def counted(document: Any) -> Flow:
        times[json.dumps(document, sort_keys=True)] += 1
        return parse(document)

    monkeypatch.setattr(Flow, "from_json", staticmethod(counted))
    return times


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> "Counter[str]":
    """How often each flow was checked, wherever it was."""
    times, check = Counter[str](), checks.check

    def counted(flow: Flow, *args: Any, **options: Any) -> list[Fault]:
        times[json.dumps(flow.raw, sort_keys=True)] += 1
        return check(flow, *args, **options)

    for module in [each for each in sys.modules.values() if isinstance(each, ModuleType)]:
        if module.__dict__.get("check") is check:
            monkeypatch.setattr(module, "check", counted)
    return times


async def test_a_turn_parses_its_flow_asks_for_the_engine_and_checks_each_flow_once(
    catalogue: Catalogue, parsed: "Counter[str]", checked: "Counter[str]"
) -> None:
    canvas = flow_of(ECHO, catalogue)
    checked.clear()
    runner = CountingRunner()
    replies = [
        "build_flow",
        [call("check_flow", 1)],
        [call("run_flow", 2, input="one")],
        [call("add_component", 3, type="TextInput")],
        [call("check_flow", 4)],
        [call("run_flow", 5, input="two")],
        "Added a text input, and ran it.",
    ]
    found = await played(catalogue, replies, runner=runner, canvas=canvas)
    assert found[-1]["event"] == "complete"
    assert len(runner.asked) == 2
    assert runner.times_asked == 1
    assert parsed[json.dumps(canvas.to_json(), sort_keys=True)] == 1
    assert len(checked) == 2
    assert set(checked.values()) == {1}


async def test_a_turn_that_builds_asks_for_the_engine_and_checks_the_new_flow_once(
    catalogue: Catalogue, checked: "Counter[str]"
) -> None:
    runner = CountingRunner()
    replies = [
        "build_flow",
        [call("build_flow", 1, spec=ECHO)],
        [call("check_flow", 2)],
        [call("run_flow", 3, input="one")],
        "Built an echo, and ran it.",
    ]
    found = await played(catalogue, replies, runner=runner)
    assert found[-1]["event"] == "complete"
    assert len(runner.asked) == 2
    assert runner.times_asked == 1
    assert set(checked.values()) == {1}


async def test_a_turn_that_edits_runs_and_checks_in_turn_checks_no_flow_twice(
    catalogue: Catalogue, checked: "Counter[str]"
) -> None:
    canvas = flow_of(ECHO, catalogue)
    checked.clear()
    replies = [
        "build_flow",
        [call("add_component", 1, type="TextInput")],
        [call("add_component", 2, type="TextInput")],
        [call("remove_component", 3, component_id="TextInput-1")],
        [call("check_flow", 4)],
        [call("build_flow", 5, spec=ECHO)],
        [call("run_flow", 6, input="two")],
        [call("check_flow", 7)],
        "Done.",
    ]
    found = await played(catalogue, replies, canvas=canvas)
    assert found[-1]["event"] == "complete"
    assert set(checked.values()) == {1}


async def test_a_question_about_a_canvas_checks_it_once(catalogue: Catalogue, checked: "Counter[str]") -> None:
    canvas = flow_of(ECHO, catalogue)
    checked.clear()
    async with serving(assistant(catalogue)) as live:
        found = await events(live.client, input_value="Why does my flow not work?", flow=canvas.to_json())
    assert found[-1]["event"] == "complete"
    assert list(checked.values()) == [1]


async def test_a_stored_flow_that_is_run_again_is_parsed_and_checked_once_until_it_changes(
    catalogue: Catalogue, checked: "Counter[str]"
) -> None:
    flow = Flow.from_json({**flow_of(ECHO, catalogue).to_json(), "name": "Run again"})  # no other test has checked it
    checked.clear()
    runner = StandInRunner()
    async with serving(assistant(catalogue, runner=runner)) as live:
        entry = (await live.client.post("/api/v1/flows", json=flow.to_json())).json()
        place = f"/api/v1/flows/{entry['id']}"
        for text in ("one", "two"):
            assert (await live.client.post(f"{place}/run", json={"input_value": text})).json()["ok"]
        first, second = (flow for flow, _ in runner.asked)
        assert first is second
        assert list(checked.values()) == [1]
        changed = {**flow.to_json(), "name": "Another"}
        await live.client.put(place, json={"flow": changed, "version": entry["version"]})
        assert (await live.client.post(f"{place}/run", json={"input_value": "three"})).json()["ok"]
    assert runner.asked[-1][0].name == "Another"
    assert list(checked.values()) == [1, 1]
