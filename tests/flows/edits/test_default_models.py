"""A component that an edit adds without a model gets the assistant's own, where Langflow knows it."""

import pytest

from flows.actions import apply_all
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import Edit, add_component, connect, name_default_models

OWN = "openai-chat:gpt-x"


def added(catalogue: Catalogue, type: str = "LanguageModelComponent", **values: str) -> Edit:
    """The edit that adds one component to an empty flow."""
    return add_component(Flow.empty(), catalogue, type, node_id="M", values={**values})


def test_an_empty_model_field_gets_a_model_that_langflow_knows(catalogue: Catalogue) -> None:
    edit = name_default_models(Flow.empty(), added(catalogue), catalogue, OWN, None)
    assert edit.flow.node("M").value("model") == [{"provider": "OpenAI", "name": "gpt-x"}]
    assert apply_all(Flow.empty(), edit.actions) == edit.flow, "the actions lead to the flow"


@pytest.mark.parametrize("own", [None, "bedrock:x", "openai-compatible:x", "mistral:x", "scripted"])
def test_a_model_that_langflow_does_not_know_is_not_stored(own: str | None, catalogue: Catalogue) -> None:
    edit = added(catalogue)
    assert name_default_models(Flow.empty(), edit, catalogue, own, own) is edit


def test_a_chosen_model_and_an_older_component_stay_as_they_are(catalogue: Catalogue) -> None:
    chosen = added(catalogue, model="anthropic:claude-x")
    assert name_default_models(Flow.empty(), chosen, catalogue, OWN, None) is chosen
    older = added(catalogue).flow
    edit = add_component(older, catalogue, "ChatInput", node_id="I")
    assert name_default_models(older, edit, catalogue, OWN, None) is edit


def test_a_connected_model_stays_connected(catalogue: Catalogue) -> None:
    flow = add_component(added(catalogue, "Agent").flow, catalogue, "LanguageModelComponent", node_id="L").flow
    edit = connect(flow, catalogue, "L", "model_output", "M", "model")
    named = name_default_models(Flow.empty(), Edit(edit.flow, ()), catalogue, OWN, None)
    assert named.flow.node("M").value("model") == "connect_other_models"
    assert named.flow.node("L").value("model") == [{"provider": "OpenAI", "name": "gpt-x"}]


def test_an_embedding_field_gets_the_embedding_model(catalogue: Catalogue) -> None:
    edit = added(catalogue, "EmbeddingModel")
    assert name_default_models(Flow.empty(), edit, catalogue, OWN, None).flow.node("M").value("model") in (None, "")
    named = name_default_models(Flow.empty(), edit, catalogue, OWN, "openai:embed-x").flow
    assert named.node("M").value("model") == [{"provider": "OpenAI", "name": "embed-x"}]
