"""Checks find what is wrong with a flow, and nothing that runs as asked is an error."""

from collections.abc import Callable
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow
from tests.shared.flow_texts import CHAIN, large_flow

Built = Callable[[str], tuple[Flow, dict[str, str]]]


def codes(flow: Flow, catalogue: Catalogue) -> list[tuple[str, str]]:
    return [(fault.code, fault.severity) for fault in check(flow, catalogue)]


def test_clean_flow_has_no_faults(built: Built, catalogue: Catalogue):
    assert codes(built(CHAIN)[0], catalogue) == []


def test_empty_flow_is_an_error(catalogue: Catalogue):
    assert codes(Flow.empty(), catalogue) == [("empty_flow", "error")]


Change = Callable[[dict[str, Any]], None]


def edge(document: dict[str, Any], index: int) -> dict[str, Any]:
    return document["data"]["edges"][index]


def drop_node(document: dict[str, Any]) -> None:
    del document["data"]["nodes"][1]


def drop_edge(document: dict[str, Any]) -> None:
    del document["data"]["edges"][2]


def rename_output(document: dict[str, Any]) -> None:
    edge(document, 0)["data"]["sourceHandle"]["name"] = "nothing"


def rename_input(document: dict[str, Any]) -> None:
    edge(document, 0)["data"]["targetHandle"]["fieldName"] = "nothing"


def enter_setting(document: dict[str, Any]) -> None:
    edge(document, 0)["data"]["targetHandle"]["fieldName"] = "code"


def wrong_types(document: dict[str, Any]) -> None:
    edge(document, 2)["data"]["targetHandle"].update(fieldName="pattern", inputTypes=["Message"])


def feed_itself(document: dict[str, Any]) -> None:
    again = {**edge(document, 1), "target": edge(document, 1)["source"]}
    document["data"]["edges"].append(again)


def close_circle(document: dict[str, Any]) -> None:
    nodes = document["data"]["nodes"]
    edge(document, 3)["target"] = nodes[1]["id"]
    edge(document, 3)["data"]["targetHandle"] = {"fieldName": "text2", "inputTypes": ["Message"], "type": "str"}


def second_feed(document: dict[str, Any]) -> None:
    again = {**edge(document, 0), "target": edge(document, 3)["target"]}
    again["data"] = {**again["data"], "targetHandle": edge(document, 3)["data"]["targetHandle"]}
    document["data"]["edges"].append(again)


def same_edge(document: dict[str, Any]) -> None:
    document["data"]["edges"].append(edge(document, 0))


def same_id(document: dict[str, Any]) -> None:
    document["data"]["nodes"].append(document["data"]["nodes"][1])


def change_code(document: dict[str, Any]) -> None:
    document["data"]["nodes"][1]["data"]["node"]["template"]["code"]["value"] += "\nx = 1\n"


def space_code(document: dict[str, Any]) -> None:
    document["data"]["nodes"][1]["data"]["node"]["template"]["code"]["value"] += "\n\n"


def unknown_type(document: dict[str, Any]) -> None:
    document["data"]["nodes"][1]["data"]["type"] = "CombineTxt"


def unknown_without_code(document: dict[str, Any]) -> None:
    document["data"]["nodes"][1]["data"]["type"] = "CombineTxt"
    del document["data"]["nodes"][1]["data"]["node"]["template"]["code"]


def add_note(document: dict[str, Any]) -> None:
    document["data"]["nodes"].append({"id": "n", "type": "noteNode", "data": {"id": "n", "type": "note", "node": {}}})


def no_end(document: dict[str, Any]) -> None:
    del document["data"]["nodes"][4]
    del document["data"]["edges"][3]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (drop_node, [("dangling_edge", "error"), ("dangling_edge", "error")]),
        (drop_edge, [("missing_input", "warning"), ("unreachable", "warning")]),
        (rename_output, [("unknown_output", "error")]),
        (rename_input, [("unknown_input", "error")]),
        (enter_setting, [("not_an_input", "error")]),
        (wrong_types, [("type_mismatch", "error"), ("missing_input", "error")]),
        (feed_itself, [("self_edge", "error")]),
        (close_circle, [("cycle", "error"), ("missing_input", "warning"), ("orphan", "warning")]),
        (second_feed, [("input_taken", "error")]),
        (same_edge, [("duplicate_edge", "warning")]),
        (same_id, [("duplicate_id", "error")]),
        (change_code, [("stale_code", "warning")]),
        (space_code, []),
        (unknown_type, [("unknown_type", "warning")]),
        (unknown_without_code, [("unknown_type", "error")]),
        (add_note, []),
        (no_end, [("no_output", "warning")]),
    ],
)
def test_fault_is_found_when_a_clean_flow_is_damaged(
    change: Change, found: list[tuple[str, str]], built: Built, catalogue: Catalogue
):
    document: dict[str, Any] = built(CHAIN)[0].to_json()
    change(document)
    told = codes(Flow.from_json(document), catalogue)
    assert sorted(told) == sorted(found)
    assert told == sorted(told, key=lambda entry: entry[1])


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("nodes:\n  B: ChatOutput\n", [("missing_input", "error")]),
        ("nodes:\n  A: ChatInput\n", [("no_output", "warning")]),
        (
            (
                "nodes:\n  A: ChatInput\n  M: LanguageModelComponent\n  B: ChatOutput\nedges:\n"
                "  A.message -> M.input_value\n  M.text_output -> B.input_value\n"
            ),
            [("missing_model", "warning")],
        ),
        (
            (
                "nodes:\n  A: ChatInput\n  R: RegexExtractorComponent\n  B: ChatOutput\nedges:\n"
                "  A.message -> R.input_text\n  R.text -> B.input_value\n"
            ),
            [("missing_input", "warning")],
        ),
        (
            (
                "nodes:\n  A: ChatInput\n  P: Prompt Template\n  B: ChatOutput\nedges:\n"
                "  A.message -> B.input_value\n  P.prompt -> B.data_template\n"
            ),
            [("empty_prompt", "warning")],
        ),
        (
            (
                "nodes:\n  A: ChatInput\n  B: ChatOutput\n  C: ChatOutput\nedges:\n  A.message -> B.input_value\n"
                "  A.message -> C.input_value\n"
            ),
            [("several_chat_outputs", "warning")],
        ),
        (
            (
                "nodes:\n  A: ChatInput\n  R: ConditionalRouter\n  B: ChatOutput\n  C: ChatOutput\nedges:\n"
                "  A.message -> R.input_text\n  R.true_result -> B.input_value\n  R.false_result -> C.input_value\n"
                "config:\n  R.match_text: hi\n"
            ),
            [],
        ),
        (
            (
                "nodes:\n  A: ChatInput\n  R: ConditionalRouter\n  B: ChatOutput\n  C: ChatOutput\nedges:\n"
                "  A.message -> R.input_text\n  R.true_result -> B.input_value\n  R.true_result -> C.input_value\n"
                "config:\n  R.match_text: hi\n"
            ),
            [("several_chat_outputs", "warning")],
        ),
    ],
)
def test_incomplete_flow_is_reported(spec: str, found: list[tuple[str, str]], built: Built, catalogue: Catalogue):
    assert codes(built(spec)[0], catalogue) == found


def test_faults_name_the_node_and_a_remedy(built: Built, catalogue: Catalogue):
    flow, ids = built("nodes:\n  B: ChatOutput\n")
    fault = check(flow, catalogue)[0]
    assert (fault.node, fault.field) == (ids["B"], "input_value")
    assert set(fault.to_json()) == {"code", "severity", "node", "port", "field", "line", "message", "fix"}
    assert fault.fix


def test_a_fault_of_many_components_names_the_first_of_them(catalogue: Catalogue) -> None:
    [fault] = [one for one in check(large_flow(catalogue), catalogue) if one.code == "several_chat_inputs"]
    assert "There are 100 components of the type ChatInput: " in fault.message
    assert fault.message.endswith(" and 90 more.")
    assert fault.message.count("ChatInput-") == 10


@pytest.mark.parametrize("template", ["Dear {1x}", "Dear {bad name}", "Dear {reader", "Dear reader}", "{_hidden}"])
def test_a_template_that_the_engine_refuses_is_an_error_however_it_came_there(
    template: str, built: Built, catalogue: Catalogue
) -> None:
    nodes, edges = "  P: Prompt Template\n  B: ChatOutput\n", "  P.prompt -> B.input_value\n"
    flow, ids = built(f"nodes:\n{nodes}edges:\n{edges}config:\n  P.template: Dear {{reader}}\n")
    assert codes(flow, catalogue) == []
    document: Any = flow.to_json()
    prompt = next(one for one in document["data"]["nodes"] if one["id"] == ids["P"])
    prompt["data"]["node"]["template"]["template"]["value"] = template
    [fault] = check(Flow.from_json(document), catalogue)
    assert (fault.code, fault.severity, fault.node, fault.field) == ("bad_template", "error", ids["P"], "template")
    assert fault.fix
