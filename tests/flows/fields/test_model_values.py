"""However a model is written, a model field holds it in the one form that the engine reads."""

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError, add_component, configure
from flows.fields.model_providers import STORED, prefix_of
from flows.fields.model_values import canonical_model

MODEL = [{"provider": "OpenAI", "name": "gpt-4o-mini"}]
SHAPES: list[Any] = [
    json.dumps(json.dumps(MODEL)),
    f"```json\n{json.dumps(MODEL)}\n```",
    "[{'provider': 'OpenAI', 'name': 'gpt-4o-mini'}]",
    "{provider: OpenAI, name: gpt-4o-mini}",
    "name: gpt-4o-mini",
    [{"name": json.dumps(MODEL[0]), "provider": "Unknown"}],
    [{"name": "- provider: OpenAI\n  name: gpt-4o-mini", "provider": "Unknown"}],
    [{"name": json.dumps([{"name": json.dumps(MODEL), "provider": "Unknown"}]), "provider": "Unknown"}],
    [json.dumps(MODEL)],
]


@pytest.mark.parametrize("written", SHAPES)
@pytest.mark.parity("ADR-029", "ADR-MCP-042", "base-scenario-serialised-model")
def test_every_serialised_shape_ends_canonical_in_the_field(written: Any, catalogue: Catalogue):
    flow = add_component(Flow.empty(), catalogue, "Agent", values={"model": written}).flow
    assert flow.nodes[0].value("model") == MODEL
    flow = add_component(Flow.empty(), catalogue, "Agent", node_id="G").flow
    assert configure(flow, catalogue, "G", {"model": written}).flow.nodes[0].value("model") == MODEL


@pytest.mark.parametrize("written", [3, True, [3], [{}], {"provider": "OpenAI"}, "made-up-model", [{"name": ""}]])
@pytest.mark.parity("base-scenario-model-without-provider")
def test_what_names_no_model_is_refused_with_a_remedy(written: Any, catalogue: Catalogue):
    flow = add_component(Flow.empty(), catalogue, "Agent", node_id="G").flow
    with pytest.raises(EditError) as caught:
        configure(flow, catalogue, "G", {"model": written})
    assert caught.value.faults[0].code == "bad_model"
    assert "provider" in caught.value.faults[0].fix


@given(
    st.lists(
        st.fixed_dictionaries(
            {"provider": st.just("OpenAI"), "name": st.from_regex(r"[a-z0-9-]{1,8}[a-z]", fullmatch=True)}
        ),
        min_size=1,
        max_size=3,
    )
)
def test_the_canonical_form_stays_as_it_is_and_every_text_of_it_comes_back(models: list[dict[str, str]]):
    assert canonical_model(models) == models
    assert canonical_model(json.dumps(models)) == models


@pytest.mark.parametrize(
    ("written", "provider", "name"),
    [
        ("openai-chat:gpt-x", "OpenAI", "gpt-x"),
        ("google:gemini-x", "Google Generative AI", "gemini-x"),
        ("azure:my-deployment", "Azure OpenAI", "my-deployment"),
        ("bedrock:global.anthropic.claude-x:1", "Amazon Bedrock", "global.anthropic.claude-x:1"),
        ("openrouter:openai/gpt-x", "OpenRouter", "openai/gpt-x"),
        ("OpenRouter/openai/gpt-x", "OpenRouter", "openai/gpt-x"),
        ("ollama:qwen3:8b", "Ollama", "qwen3:8b"),
        ("watsonx:ibm/granite", "IBM WatsonX", "ibm/granite"),
        ("openai-compatible:granite", "OpenAI-compatible server", "granite"),
        ({"provider": "azure ai foundry", "name": "d"}, "Azure OpenAI", "d"),
        ({"provider": "google", "name": "gemini-x"}, "Google Generative AI", "gemini-x"),
    ],
)
def test_every_provider_is_stored_with_the_name_that_langflow_knows(written: Any, provider: str, name: str):
    assert canonical_model(written) == [{"provider": provider, "name": name}]


@given(st.sampled_from(sorted(STORED)), st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._/:-]{0,20}", fullmatch=True))
def test_every_provider_of_ours_leads_to_a_stored_one_and_back(prefix: str, name: str):
    [stored] = cast("list[dict[str, str]]", canonical_model(f"{prefix}:{name}"))
    assert stored["name"] == name
    assert stored["provider"] == STORED[prefix]
    assert STORED[prefix_of(stored["provider"]) or ""] == STORED[prefix]
    assert canonical_model([{**stored}]) == [stored]


@pytest.mark.parametrize(
    "written", ["assistant", "Assistant", "wirewright:assistant", [{"provider": "Wirewright", "name": "assistant"}]]
)
def test_the_assistants_own_model_is_an_empty_field(written: Any, catalogue: Catalogue):
    assert canonical_model(written) == ""
    flow = add_component(Flow.empty(), catalogue, "Agent", values={"model": written}).flow
    assert not flow.nodes[0].value("model")


def test_an_empty_model_field_says_whose_model_it_takes(catalogue: Catalogue):
    described = catalogue.describe("LanguageModelComponent")
    line = next(
        line
        for line in described.splitlines()
        if line.startswith(("model:", "settings: model:")) or "provider:name" in line
    )
    assert "empty takes the assistant's model" in line
    assert "required" not in line
