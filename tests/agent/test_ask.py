"""One call, one turn: `wirewright.ask`."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import wirewright
from flows.catalogue import Catalogue
from flows.document import FlowFormatError
from tests.shared.flow_texts import ECHO, flow_of
from wirewright import AssistantSettings, ask

DEMO = AssistantSettings(model="demo")


@pytest.mark.engine
def test_a_flow_is_built_changed_and_run(warm_cache: Path, catalogue: Catalogue) -> None:
    settings = AssistantSettings(model="demo", cache=warm_cache)
    built = ask("Build an echo flow and run it with hello", settings=settings)
    assert built.outcome == "complete"
    assert built.runs[-1].output == "hello"
    again = ask("run it with bye", built.flow.to_json(), settings=settings)
    assert again.runs[-1].output == "bye"
    same = ask("run it with bye", flow_of(ECHO, catalogue), settings=settings)
    assert same.record.runs[-1].output == "bye"


@pytest.mark.parametrize(("text", "flow"), [(3, None), (None, None), ("hi", "flow.json"), ("hi", [1])])
def test_a_wrong_type_is_named_with_the_remedy(text: Any, flow: Any) -> None:
    with pytest.raises(TypeError, match="; give "):
        ask(text, flow, settings=DEMO)


def test_json_that_is_no_flow_is_refused_with_its_place() -> None:
    with pytest.raises(FlowFormatError, match=r"\$\.data"):
        ask("explain it", {"data": 3}, settings=DEMO)


def test_a_running_loop_is_told_what_to_use() -> None:
    async def inside() -> None:
        ask("hi", settings=DEMO)

    with pytest.raises(TypeError, match=r"Assistant\.turn"):
        asyncio.run(inside())


def test_a_setting_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValidationError, match="modle"):
        AssistantSettings(modle="demo")  # pyright: ignore[reportCallIssue]  (that is the point)


def test_variables_of_other_parts_are_no_settings_of_the_assistant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREWRIGHT_PORT", "7000")
    assert AssistantSettings(model="demo").model == "demo"


def test_the_face_offers_it() -> None:
    assert "ask" in wirewright.__all__
