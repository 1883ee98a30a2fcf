"""Stale components: told from those that somebody has edited, and updated without losing what was set."""

from dataclasses import replace
from typing import Any

import pytest

from flows.actions import apply_all
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits.updates import code_hash, engine_codes, stale_components, stale_types, update_components
from tests.shared.flow_texts import LOUDER, flow_of, node_id


def earlier(flow: Flow, *ids: str, code: str = "", **told: object) -> Flow:
    """A flow with other code in some components, as an earlier engine would have shipped it.

    Args:
        flow: the flow.
        ids: the components.
        code: what the code ends with.
        told: what else their definitions say.
    """
    document: Any = flow.to_json()
    for node in document["data"]["nodes"]:
        if node["id"] in ids:
            definition = node["data"]["node"]
            source = definition["template"]["code"]["value"] + f"\n# earlier {code}\n"
            definition["template"]["code"]["value"] = source
            definition["metadata"] = {**definition["metadata"], "code_hash": code_hash(source)}
            definition.update(told)
    return Flow.from_json(document)


@pytest.fixture
def flow(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


def test_a_flow_of_this_engine_is_not_stale(flow: Flow, catalogue: Catalogue) -> None:
    assert stale_components(flow, catalogue) == []
    assert stale_types(engine_codes(flow), catalogue) == []
    assert update_components(flow, catalogue).flow is flow


def test_components_of_an_earlier_engine_are_updated_and_keep_what_was_set(flow: Flow, catalogue: Catalogue) -> None:
    prompt, output = node_id(flow, "Prompt Template"), node_id(flow, "ChatOutput")
    old = earlier(flow, prompt, output)
    assert {one.node for one in stale_components(old, catalogue)} == {prompt, output}
    assert set(stale_types(engine_codes(old), catalogue)) == {"Prompt Template", "ChatOutput"}
    made = update_components(old, catalogue)
    assert apply_all(old, made.actions) == made.flow, "the actions make the change"
    assert (stale_components(made.flow, catalogue), made.lost) == ([], ())
    node = made.flow.node(prompt)
    assert node is not None
    assert node.value("template") == "Say it louder: {text}"
    assert {edge.text for edge in made.flow.edges} == {edge.text for edge in old.edges}
    assert [one.id for one in made.flow.nodes] == [one.id for one in old.nodes]


def test_what_somebody_has_edited_is_never_updated(flow: Flow, catalogue: Catalogue) -> None:
    prompt, output, chat = (node_id(flow, kind) for kind in ("Prompt Template", "ChatOutput", "ChatInput"))
    edited = earlier(flow, prompt, edited=True)
    document: Any = edited.to_json()
    for node in document["data"]["nodes"]:
        definition = node["data"]["node"]
        if node["id"] == output:  # by hand: the hash is the one of the code before
            definition["template"]["code"]["value"] += "\n# mine\n"
        if node["id"] == chat:  # in Langflow's editor, which makes it a component of the user's own
            definition["template"]["code"]["value"] += "\n# mine\n"
            code = definition["template"]["code"]["value"]
            definition["metadata"] = {"module": "custom_components.chat_input", "code_hash": code_hash(code)}
    mine = Flow.from_json(document)
    assert stale_components(mine, catalogue) == []
    assert update_components(mine, catalogue).flow is mine
    assert set(engine_codes(mine)) == set()


def test_a_type_that_the_engine_has_no_more_stays_as_it_is(flow: Flow, catalogue: Catalogue) -> None:
    old = earlier(flow, node_id(flow, "ChatOutput"))
    without = Catalogue({one.type: replace(one) for one in catalogue if one.type != "ChatOutput"})
    assert stale_components(old, without) == []
