"""However a model is written, a model field holds it in the one form that the engine reads."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError, add_component, configure
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
