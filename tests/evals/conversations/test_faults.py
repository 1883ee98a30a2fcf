"""Faults: every difference between what a step expects and what there is."""

from pathlib import Path

from evals.conversations.faults import file_faults, flow_faults, part_faults
from evals.expectation import Expectation
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.files.store import UserFiles
from tests.shared.flow_texts import BARE_ECHO, ECHO, LOUDER, flow_of


def flow_differs(expected: str, found: Flow, catalogue: Catalogue) -> list[str]:
    return list(flow_faults("the canvas", expected, found, catalogue))


def test_ids_and_names_of_a_flow_do_not_count(catalogue: Catalogue) -> None:
    assert flow_differs(ECHO, flow_of(BARE_ECHO, catalogue), catalogue) == []
    assert flow_differs("empty", Flow.empty(), catalogue) == []


def test_components_values_and_connections_of_a_flow_count(catalogue: Catalogue) -> None:
    louder = flow_of(LOUDER, catalogue)
    assert flow_differs(ECHO, louder, catalogue) == [
        "the canvas has Prompt Template, which is not expected",
        "the canvas has 2 connections, of which 0 are expected",
    ]
    assert "the canvas lacks Prompt Template" in flow_differs(LOUDER, flow_of(ECHO, catalogue), catalogue)
    [value] = flow_differs(LOUDER.replace("louder:", "softer:"), louder, catalogue)
    assert "Say it louder: {text}" in value
    assert "the canvas lacks ChatInput" in flow_differs(ECHO, Flow.empty(), catalogue)


def test_of_objects_the_given_keys_count_and_of_lists_every_item() -> None:
    found = {"changes": [{"kind": "added", "nodes": ["a"]}], "waiting": True}
    assert list(part_faults("r", {"changes": [{"kind": "added"}]}, found)) == []
    assert list(part_faults("r", {"changes": []}, found)) != []
    assert list(part_faults("r", {"changes": [{"kind": "removed"}]}, found)) == [
        "r.changes[0].kind is 'added', not 'removed'"
    ]
    assert list(part_faults("r", {"proposal": None}, found)) == ["r has no proposal"]


def test_a_file_that_is_missing_or_different_is_a_fault(tmp_path: Path) -> None:
    folder = UserFiles(tmp_path, "ada")
    folder.write("a.txt", "nine")
    assert list(file_faults({"a.txt": Expectation(contains="NINE")}, folder)) == []
    assert len(list(file_faults({"a.txt": Expectation(equals="ten"), "b.txt": Expectation(equals="")}, folder))) == 2
