"""A run that is refused does not wait for the engine: it is refused while none is installed, started or wanted."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject
from runtime.gateway.models import Models, ModelUnavailable
from runtime.results import ENGINE_CLOSED, RunErrorCode
from runtime.runner import Runner
from tests.runtime.conftest import FakeEnvironment

Fake = Callable[[str], FakeEnvironment]
pytestmark = pytest.mark.anyio

NEVER_READY = "time.sleep(600)\n"
HOSTILE = "import os\nfrom lfx.custom import Component\nclass Spy(Component):\n    x = os.environ\n"


def component(code: str, **fields: Json) -> JsonObject:
    template: JsonObject = {**fields, "code": {"type": "code", "value": code}}
    return {"display_name": "A component", "template": template, "outputs": [], "category": "c"}


TEXT: JsonObject = {"type": "str", "value": ""}
CATALOGUE: Mapping[str, JsonObject] = {
    "TextInput": component("class TextInput: ...", input_value=TEXT),
    "LanguageModelComponent": component("class LanguageModelComponent: ...", model={"type": "model", "value": ""}),
}


def node(node_id: str, kind: str, **values: Json) -> JsonObject:
    known: Any = CATALOGUE.get(kind, component(""))
    template: JsonObject = {
        name: {**entry, "value": values.get(name, entry["value"])} for name, entry in known["template"].items()
    }
    return {
        "id": node_id,
        "type": "genericNode",
        "position": {"x": 0, "y": 0},
        "data": {"id": node_id, "type": kind, "node": {**known, "template": template}},
    }


def flow(*nodes: Json) -> Flow:
    return Flow.from_json({"name": "Test", "data": {"nodes": list(nodes), "edges": []}})


def unavailable(name: str) -> Any:
    raise ModelUnavailable(f"{name} is not configured.", "Set its key.", code="missing_key")


REFUSED: list[tuple[Flow, dict[str, Any], RunErrorCode]] = [
    (flow(node("Spy-a", "Spy", code=HOSTILE)), {}, "refused"),
    (flow(node("TextInput-a", "TextInput")), {"tweaks": {"TextInput-a": {"nothing": 1}}}, "refused"),
    (
        flow(node("TextInput-a", "TextInput", input_value="x"), node("b", "TextInput", input_value="y")),
        {},
        "missing_input",
    ),
    (flow(node("x", "ext:anthropic:AnthropicModelComponent@official")), {}, "missing_package"),
    (
        flow(node("m", "LanguageModelComponent", model=[{"provider": "OpenAI", "name": "gpt-4o"}])),
        {"models": Models(resolve=unavailable)},
        "missing_key",
    ),
]
NAMES = ["guard", "tweak", "no input", "no bundle", "no key"]


@pytest.mark.parametrize(("refused", "options", "code"), REFUSED, ids=NAMES)
async def test_a_run_is_refused_without_an_engine_when_it_cannot_be_admitted(
    fake: Fake, refused: Flow, options: dict[str, Any], code: RunErrorCode
) -> None:
    made = Runner(fake(NEVER_READY), catalogue=Catalogue.from_json({"format": 1, "components": dict(CATALOGUE)}))
    async with asyncio.timeout(20):
        result = await made.run(refused, "hello", **options)
    assert result.error is not None
    assert result.error.code == code, result.error
    assert made.state == "new"
    await made.aclose()


@dataclass(frozen=True)
class Exported(FakeEnvironment):
    """An environment that has exported its catalogue if there is a file."""

    @property
    def catalogue_current(self) -> bool:
        return self.catalogue.exists()


async def test_the_catalogue_that_was_exported_before_is_enough_for_a_refusal(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "catalogue.json").write_text(json.dumps({"format": 1, "components": CATALOGUE}), encoding="utf-8")
    made = Runner(Exported(source=tmp_path, cache=tmp_path, digest="fake", script=fake(NEVER_READY).script))
    async with asyncio.timeout(20):
        result = await made.run(REFUSED[0][0], "hello")
    assert result.error is not None
    assert result.error.code == "refused"
    assert made.state == "new"
    await made.aclose()


async def test_a_run_waits_for_the_engine_when_no_catalogue_was_exported(fake: Fake, tmp_path: Path) -> None:
    made = Runner(Exported(source=tmp_path, cache=tmp_path, digest="fake", script=fake(NEVER_READY).script))
    starting = asyncio.Event()
    made.on_progress = lambda _: starting.set()
    waiting = asyncio.create_task(made.run(REFUSED[0][0], "hello"))
    await starting.wait()
    assert not waiting.done()
    await made.aclose()
    assert (await waiting).error == ENGINE_CLOSED


async def test_a_closed_runner_serves_no_models(fake: Fake) -> None:
    made = Runner(fake(NEVER_READY), catalogue=Catalogue.from_json({"format": 1, "components": dict(CATALOGUE)}))
    await made.aclose()
    calling, options, _ = REFUSED[-1]
    assert (await made.run(calling, "hello", **options)).error == ENGINE_CLOSED
