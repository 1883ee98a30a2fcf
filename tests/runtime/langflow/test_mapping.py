"""Models, variables and component types are found by name on a server."""

import json

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject
from flows.spec import build
from runtime.langflow.catalogue import read_catalogue
from runtime.langflow.documents import Model, ProviderModels
from runtime.langflow.mapping import There, map_flow
from scripts.langflow_cassettes import types
from tests.runtime.langflow.stand_in import recorded_types

SPEC = """name: Answers
nodes:
  a: ChatInput
  m: LanguageModelComponent
  o: ChatOutput
edges:
  a.message -> m.input_value
  m.text_output -> o.input_value
"""


@pytest.fixture(scope="module")
def local() -> Catalogue:
    return types()


@pytest.fixture(scope="module")
def there() -> There:
    models = [
        ProviderModels(provider="OpenAI", models=[Model(model_name="gpt-4o")], is_enabled=True),
        ProviderModels(provider="Azure AI Foundry", models=[], is_enabled=True),
        ProviderModels(provider="Anthropic", models=[Model(model_name="claude-opus-4-6")], is_enabled=False),
    ]
    return There(catalogue=read_catalogue(recorded_types(), "1.13.0"), variables=["SERPER"], models=models)


def flow_with(local: Catalogue, model: Json) -> Flow:
    flow = build(SPEC, local).flow
    assert flow is not None
    raw = json.loads(json.dumps(flow.raw))
    for node in raw["data"]["nodes"]:
        if node["data"]["type"] == "LanguageModelComponent":
            node["data"]["node"]["template"]["model"]["value"] = model
    return Flow(raw)


def model_of(flow: Flow) -> Json:
    return next(node for node in flow.nodes if node.type == "LanguageModelComponent").value("model")


def model(provider: str, name: str) -> JsonObject:
    return {"provider": provider, "name": name}


@pytest.mark.parametrize(
    ("given", "sent", "codes"),
    [
        (model("OpenAI", "gpt-4o"), model("OpenAI", "gpt-4o"), []),
        (model("OpenAI", "GPT-4o"), model("OpenAI", "gpt-4o"), []),
        (model("Azure OpenAI", "mine"), model("Azure AI Foundry", "mine"), []),
        (model("OpenAI", "gpt-99"), model("OpenAI", "gpt-99"), ["unmapped_model"]),
        (model("Mistral", "large"), model("Mistral", "large"), ["unmapped_model"]),
        (model("Anthropic", "claude-opus-4-6"), model("Anthropic", "claude-opus-4-6"), ["no_model_key"]),
    ],
)
def test_a_model_is_found_by_provider_and_name(
    local: Catalogue, there: There, given: JsonObject, sent: JsonObject, codes: list[str]
) -> None:
    mapped = map_flow(flow_with(local, [given]), there, local, Flow.empty())
    assert model_of(mapped.flow) == [sent]
    assert [fault.code for fault in mapped.faults] == codes
    assert all(not fault.is_error for fault in mapped.faults)
    assert bool(mapped.changes) == (given != sent)


def test_the_assistants_own_model_is_not_there(local: Catalogue, there: There) -> None:
    mapped = map_flow(flow_with(local, ""), there, local, Flow.empty())
    assert [fault.code for fault in mapped.faults] == ["unmapped_model"]


def test_what_the_flow_there_has_already_is_left_alone(local: Catalogue, there: There) -> None:
    flow = flow_with(local, [model("Mistral", "large")])
    mapped = map_flow(flow, There(catalogue=Catalogue({}), models=[]), local, flow)
    assert (mapped.flow, mapped.faults, mapped.changes) == (flow, (), ())


def test_a_type_that_is_not_there_is_an_error_and_code_of_ones_own_a_warning(local: Catalogue, there: There) -> None:
    flow = flow_with(local, [model("OpenAI", "gpt-4o")])
    text = json.dumps(flow.raw)
    gone = Flow(json.loads(text.replace('"type": "ChatInput"', '"type": "FileVectorStore"')))
    faults = map_flow(gone, there, local, Flow.empty()).faults
    assert [(fault.code, fault.is_error) for fault in faults] == [("unknown_there", True)]
    raw = json.loads(text)
    definition = raw["data"]["nodes"][0]["data"]["node"]
    definition["template"]["code"]["value"] += "\n# changed by its owner\n"
    faults = map_flow(Flow(raw), there, local, Flow.empty()).faults
    assert [(fault.code, fault.is_error) for fault in faults] == [("own_code", False)]
