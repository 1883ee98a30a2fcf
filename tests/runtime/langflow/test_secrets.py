"""Secrets are removed from flows and put back, and nothing else changes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.document import Flow, JsonObject
from runtime.install.shipped import shipped_catalogue
from runtime.langflow.changes import content_digest, moved
from runtime.langflow.secrets import with_secrets_of, withheld_secrets, without_secrets
from scripts.langflow_cassettes import FOLDER, example

SECRET = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t"
VALUES = st.one_of(st.text(max_size=20), st.sampled_from([SECRET, f"Ask with {SECRET}", "SERPER_API_KEY", ""]))
FIELDS: list[JsonObject] = [
    {"name": "api_key", "type": "str", "password": True},
    {"name": "headers", "type": "table"},
    {"name": "input_value", "type": "str"},
]


def flow_of(values: list[object], description: str = "") -> Flow:
    """The example with fields that have these values."""
    raw = json.loads(json.dumps(example().raw))
    template = raw["data"]["nodes"][0]["data"]["node"]["template"]
    for field, value in zip(FIELDS, values, strict=True):
        template[field["name"]] = {**field, "value": value}
    return Flow({**raw, "description": description})


ROWS = st.lists(
    st.fixed_dictionaries({"key": st.sampled_from(["Authorization", "Accept"]), "value": VALUES}), max_size=2
)
FLOWS = st.builds(lambda *given: flow_of(list(given[:3]), given[3]), VALUES, ROWS, VALUES, VALUES)


@given(FLOWS)
def test_a_flow_without_its_secrets_gets_them_back(flow: Flow) -> None:
    bare = without_secrets(flow)
    assert SECRET not in json.dumps(bare.raw)
    assert with_secrets_of(bare, flow) == flow
    assert without_secrets(bare) == bare
    assert withheld_secrets(flow, flow) == []


@given(FLOWS, FLOWS)
def test_only_a_change_beside_secrets_is_a_change(one: Flow, other: Flow) -> None:
    same = content_digest(one) == content_digest(other)
    assert same == (without_secrets(one) == without_secrets(other))
    assert (moved(one, other) == "no") == same


@pytest.mark.parametrize("kind", ["GuardrailValidatorV2", "ChatInput"])
def test_the_engines_own_code_is_no_secret(kind: str) -> None:
    types = shipped_catalogue(FOLDER)
    component = None if types is None else types.get(kind)
    assert component is not None
    node: JsonObject = {"id": "a", "data": {"id": "a", "type": kind, "node": component.definition}}
    flow = Flow({"name": "Flow", "data": {"nodes": [node], "edges": []}})
    assert without_secrets(flow).nodes[0].code == component.code
