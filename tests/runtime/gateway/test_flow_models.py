"""Flows before they run: every model behind the gateway, no key left, and clear words where that cannot be."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.embeddings.test import TestEmbeddingModel
from pydantic_ai.models.test import TestModel

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject
from flows.fields.model_values import CONNECTED
from flows.json_values import as_list, as_object, as_text, object_at
from runtime.gateway.accounts import RunAccount
from runtime.gateway.model_fields import RunFailed, point_at_gateway, uses_models
from runtime.gateway.models import ASSISTANT, Models, ModelUnavailable
from runtime.guard import runnable
from tests.runtime.conftest import MakeFlow

pytestmark = pytest.mark.engine

URL = "http://127.0.0.1:4567/v1"


def session(resolve: Callable[[str], Any] = lambda _: TestModel()) -> RunAccount:
    return RunAccount(Models(resolve=resolve, embed=lambda _: TestEmbeddingModel()))


def fields(data: JsonObject, node: str) -> dict[str, Json]:
    raw = next(raw for raw in map(as_object, as_list(data["nodes"])) if raw["id"] == node)
    template = object_at(raw, "data", "node", "template")
    return {name: as_object(entry).get("value") for name, entry in template.items()}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([{"provider": "Anthropic", "name": "claude-x", "metadata": {"a": 1}}], "anthropic:claude-x"),
        ([{"provider": "Google Generative AI", "name": "gemini-x"}], "google:gemini-x"),
        ({"provider": "OpenAI", "name": "gpt-x"}, "openai:gpt-x"),
        ('[{"provider": "Groq", "name": "q"}]', "groq:q"),
        ("gpt-4o", "openai:gpt-4o"),
        ("ollama:qwen3", "ollama:qwen3"),
        ([{"provider": "My Provider", "name": "m"}], "my-provider:m"),
        ([{"provider": "Wirewright", "name": ASSISTANT}], ASSISTANT),
        (ASSISTANT, ASSISTANT),
        ("", ASSISTANT),
        ([], ASSISTANT),
    ],
)
def test_any_choice_of_a_model_becomes_one_behind_the_gateway(
    value: Json, name: str, make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    secrets: dict[str, Json] = {"model": value, "api_key": "sk-live-1", "ollama_base_url": "http://elsewhere"}
    flow = make_flow({"Model-1": ("LanguageModelComponent", secrets)})
    run = session()
    data = point_at_gateway(runnable(flow), installed_catalogue, run, URL)
    values = fields(data, "Model-1")
    assert values["model"] == [{"provider": "OpenAI", "name": name, "metadata": {}}]
    assert values["api_key"] == run.key("Model-1")
    assert values["ollama_base_url"] == values["base_url_ibm_watsonx"] == ""
    assert run.allowed_models == {name}
    assert "sk-live-1" not in json.dumps(data)
    assert "sk-live-1" in json.dumps(flow.to_json())  # the flow itself is left as it was


def test_each_node_gets_a_key_of_its_own(make_flow: MakeFlow, installed_catalogue: Catalogue) -> None:
    flow = make_flow({"Agent-1": ("Agent", {"model": "gpt-4o"}), "Model-2": ("LanguageModelComponent", {})})
    run = session()
    data = point_at_gateway(runnable(flow), installed_catalogue, run, URL)
    keys = [as_text(fields(data, node)["api_key"]) for node in ("Agent-1", "Model-2")]
    assert len(set(keys)) == 2
    assert [run.node(key.partition(".")[2]) for key in keys] == ["Agent-1", "Model-2"]


def test_a_connected_model_stays_connected(make_flow: MakeFlow, installed_catalogue: Catalogue) -> None:
    flow = make_flow({"Agent-1": ("Agent", {"model": CONNECTED, "api_key": "sk-live-1"})})
    values = fields(point_at_gateway(runnable(flow), installed_catalogue, session(), URL), "Agent-1")
    assert values["model"] == CONNECTED
    assert values["api_key"] != "sk-live-1"


def test_components_of_one_provider_are_pointed_at_the_gateway(
    make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    chat, vectors = "ext:openai:OpenAIModelComponent@official", "ext:openai:OpenAIEmbeddingsComponent@official"
    flow = make_flow(
        {
            "Chat-1": (chat, {"model_name": "gpt-x", "api_key": "sk-live-1"}),
            "Vectors-2": (vectors, {"openai_api_key": "sk-live-2", "openai_proxy": "http://proxy"}),
        }
    )
    run = session()
    data = point_at_gateway(runnable(flow), installed_catalogue, run, URL)
    one, two = fields(data, "Chat-1"), fields(data, "Vectors-2")
    assert (one["model_name"], one["openai_api_base"], one["api_key"]) == ("openai:gpt-x", URL, run.key("Chat-1"))
    assert (two["openai_api_base"], two["openai_api_key"], two["openai_proxy"]) == (URL, run.key("Vectors-2"), "")
    assert run.allowed_models == {"openai:gpt-x", "openai:text-embedding-3-small"}


def test_components_that_speak_another_protocol_are_refused_with_what_to_use(
    make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    known = installed_catalogue.get("ext:openai:OpenAIModelComponent@official")
    assert known is not None
    foreign = {**known.raw, "metadata": {"component_class_name": "AnthropicModelComponent"}, "display_name": "Claude"}
    catalogue = Catalogue.from_json({"format": 1, "lfx": "1", "runner": "r", "components": {"Claude": foreign}})
    flow = Flow.from_json(
        {"nodes": [{"id": "C-1", "data": {"id": "C-1", "type": "Claude", "node": foreign}}], "edges": []}
    )
    with pytest.raises(RunFailed) as caught:
        point_at_gateway(runnable(flow), catalogue, session(), URL)
    assert (caught.value.error.code, caught.value.error.node) == ("refused", "C-1")
    assert "Language Model" in caught.value.error.fix


def test_an_unavailable_model_is_found_before_anything_runs(
    make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    def resolve(name: str) -> Any:
        raise ModelUnavailable(f"No key for {name}.", "Set it.", code="missing_key")

    flow = make_flow({"Model-1": ("LanguageModelComponent", {"model": "claude-x"})})
    with pytest.raises(RunFailed) as caught:
        point_at_gateway(runnable(flow), installed_catalogue, session(resolve), URL)
    error = caught.value.error
    assert (error.code, error.message, error.fix, error.node) == (
        "missing_key",
        "No key for anthropic:claude-x.",
        "Set it.",
        "Model-1",
    )


def test_a_flow_that_calls_no_model_asks_none(echo: Flow, make_flow: MakeFlow, installed_catalogue: Catalogue) -> None:
    assert not uses_models(runnable(echo), installed_catalogue)
    assert not uses_models(runnable(make_flow({"F-1": "LangChainFakeEmbeddings"})), installed_catalogue)
    assert uses_models(runnable(make_flow({"Agent-1": "Agent"})), installed_catalogue)
    data = runnable(echo)
    assert point_at_gateway(data, installed_catalogue, session(), URL) == data


def test_a_group_hands_its_own_choice_to_the_model_inside_and_no_key(
    make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    inner = make_flow({"Model-1": ("LanguageModelComponent", {"model": "gpt-4o", "api_key": "sk-live-1"})})
    template = {
        "chosen": {"type": "model", "value": "claude-x", "proxy": {"id": "Model-1", "field": "model"}},
        "key": {"type": "str", "value": "sk-live-2", "password": True, "proxy": {"id": "Model-1", "field": "api_key"}},
    }
    group = {"display_name": "G", "template": template, "flow": inner.to_json()}
    flow = Flow.from_json({"nodes": [{"id": "G-1", "data": {"id": "G-1", "type": "G", "node": group}}], "edges": []})
    assert uses_models(runnable(flow), installed_catalogue)
    run = session()
    data = point_at_gateway(runnable(flow), installed_catalogue, run, URL)
    outer = fields(data, "G-1")
    raw = as_object(as_list(data["nodes"])[0])
    within = fields(object_at(raw, "data", "node", "flow", "data"), "Model-1")
    expected: Json = [{"provider": "OpenAI", "name": "anthropic:claude-x", "metadata": {}}]
    assert outer["chosen"] == within["model"] == expected
    assert outer["key"] == within["api_key"] == run.key("G-1")
    assert "sk-live" not in json.dumps(data)


@pytest.mark.parametrize(
    ("type", "field", "model"),
    [
        ("LanguageModelComponent", "api_key", {"model": [{"provider": "OpenAI", "name": "gpt-x"}]}),
    ],
)
@pytest.mark.parity("base-scenario-unresolved-key", "base-smoke-missing-key", "ADR-027")
def test_a_missing_key_names_the_variable_that_was_meant_and_the_usual_one(
    type: str, field: str, model: dict[str, Json], make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    def resolve(name: str) -> Any:
        raise ModelUnavailable("Provider 'openai' is not configured.", "Set OPENAI_API_KEY.", code="missing_key")

    def refusal(variable: str, *, stored: bool) -> str:
        data = json.loads(json.dumps(runnable(make_flow({"Model-1": (type, {**model, field: variable})}))))
        data["nodes"][0]["data"]["node"]["template"][field]["load_from_db"] = stored
        with pytest.raises(RunFailed) as refused:
            point_at_gateway(data, installed_catalogue, session(resolve), URL)
        assert refused.value.error.fix == "Set OPENAI_API_KEY."
        assert refused.value.error.code == "missing_key"
        return refused.value.error.message

    assert refusal("MY_OPENAI_KEY", stored=True) == (
        "The key of Model-1 is the variable MY_OPENAI_KEY, which has no value here."
        " Provider 'openai' is not configured."
    )
    for typed, stored in (("OPENAI_API_KEY", True), ("MY_OPENAI_KEY", False), ("sk-live-abcdefghijklmnop1234", True)):
        assert refusal(typed, stored=stored) == "Provider 'openai' is not configured."


@pytest.mark.parity("term-api-key-diagnostic", "base-term-api-key-diagnostic")
def test_a_key_that_was_typed_in_is_never_repeated(make_flow: MakeFlow, installed_catalogue: Catalogue) -> None:
    def resolve(name: str) -> Any:
        raise ModelUnavailable("Not configured.", "Set OPENAI_API_KEY.", code="missing_key")

    values: dict[str, Json] = {"model": [{"provider": "OpenAI", "name": "gpt-x"}], "api_key": "hunter2_of_mine"}
    with pytest.raises(RunFailed) as refused:
        point_at_gateway(
            runnable(make_flow({"M-1": ("LanguageModelComponent", values)})), installed_catalogue, session(resolve), URL
        )
    assert "hunter2" not in f"{refused.value.error.message}{refused.value.error.fix}"
