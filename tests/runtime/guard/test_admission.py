"""What may run, by code, by type and by place."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject
from runtime.guard import refuse, runnable
from runtime.guard.admission import same_code
from runtime.guard.executed import EXECUTING, OUT_OF_FIELD

CODE = "class Echo:\n    text = 'x'\n"


def definition(code: str, **more: Json) -> JsonObject:
    return {"display_name": "Echo it", "template": {"code": {"type": "code", "value": code}}, "outputs": [], **more}


CATALOGUE = Catalogue.from_json(
    {
        "format": 1,
        "lfx": "0",
        "runner": "x",
        "components": {
            "Echo": definition(CODE),
            "Other": definition("class Other: pass"),
            "Model": {
                **definition(CODE),
                "outputs": [{"name": "model", "types": ["LanguageModel"]}],
            },
            "Asks": {
                **definition(CODE),
                "template": {"code": {"type": "code", "value": CODE}, "model": {"type": "model"}},
            },
            "ext:bundle:Thing@official": {**definition(CODE), "name": "OldThing"},
            **{name: definition(CODE) for name in EXECUTING},
        },
    }
)


def node(kind: str = "Echo", code: str | None = CODE, node_id: str = "n", **more: Json) -> JsonObject:
    inner = definition(code or "", **more)
    if code is None:
        inner["template"] = {}
    return {"id": node_id, "type": "genericNode", "data": {"id": node_id, "type": kind, "node": inner}}


def flow(*nodes: JsonObject, edges: tuple[JsonObject, ...] = ()) -> Flow:
    return Flow.from_json({"data": {"nodes": [*nodes], "edges": [*edges]}})


def group(*nodes: JsonObject, node_id: str = "g", edges: tuple[JsonObject, ...] = (), **template: Json) -> JsonObject:
    held: JsonObject = {"data": {"nodes": [*nodes], "edges": [*edges]}}
    inner: JsonObject = {"display_name": "Group", "template": {**template}, "flow": held}
    return {"id": node_id, "type": "genericNode", "data": {"id": node_id, "type": "GroupNode", "node": inner}}


@pytest.mark.parametrize("code", [CODE, "\n\n" + CODE + "\n", CODE.replace("\n", "  \r\n")])
@pytest.mark.parity("ADR-025", "ADR-MCP-041", "base-scenario-built-in-code-runs")
def test_a_node_runs_when_its_code_is_the_catalogues(code: str) -> None:
    assert refuse(flow(node(code=code)), CATALOGUE) is None


EVIL = CODE + "import os\nos.system('id')\n"


@pytest.mark.parametrize("code", [CODE + "import math", "class Other: pass", CODE.replace("'x'", "'y'")])
def test_a_node_runs_when_its_code_is_another_and_passes_the_guard(code: str) -> None:
    assert refuse(flow(node(code=code)), CATALOGUE) is None
    assert refuse(flow(node("Nothing", code=code)), CATALOGUE) is None


@pytest.mark.parametrize("kind", ["Echo", "Nothing", "CustomComponent"])
def test_a_node_is_refused_by_name_and_line_when_its_code_does_not_pass_the_guard(kind: str) -> None:
    error = refuse(flow(node(), node(kind, code=EVIL, node_id="bad")), CATALOGUE)
    assert error is not None
    assert (error.code, error.node) == ("refused", "bad")
    assert "Echo it" in error.message
    assert "line 4" in error.message
    assert error.fix


@pytest.mark.parametrize("code", ["", "  \n", None])
@pytest.mark.parametrize("kind", ["Echo", "Nothing"])
def test_a_node_is_refused_when_it_has_no_code(kind: str, code: str | None) -> None:
    error = refuse(flow(node(kind, code=code)), CATALOGUE)
    assert error is not None
    assert error.code == "refused"


@pytest.mark.parity("base-term-builtin-exemption", "term-builtin-exemption")
def test_a_catalogues_code_is_exempt_only_as_the_code_of_its_own_type() -> None:
    trusted = {
        "format": 1,
        "lfx": "0",
        "runner": "x",
        "components": {"Runs": definition(EVIL), "Echo": definition(CODE)},
    }
    catalogue = Catalogue.from_json(trusted)
    assert refuse(flow(node("Runs", code=EVIL)), catalogue) is None
    assert refuse(flow(node("Echo", code=EVIL)), catalogue) is not None
    assert refuse(flow(node("Runs", code=EVIL)), Catalogue.from_json({**trusted, "components": {}})) is not None


@pytest.mark.parametrize("kind", sorted(EXECUTING.keys() - OUT_OF_FIELD))
def test_a_node_is_refused_when_its_type_executes_its_values(kind: str) -> None:
    error = refuse(flow(node(kind)), CATALOGUE)
    assert error is not None
    assert error.code == "refused"


def test_a_bundles_node_is_known_by_the_names_that_old_flows_have() -> None:
    for kind in ("ext:bundle:Thing@official", "OldThing", "Thing"):
        assert refuse(flow(node(kind)), CATALOGUE) is None


@pytest.mark.parametrize("kind", ["Model", "Asks"])
def test_a_model_node_is_a_missing_model(kind: str) -> None:
    error = refuse(flow(node(), node(kind, node_id="m")), CATALOGUE)
    assert error is not None
    assert (error.code, error.node) == ("missing_model", "m")


def test_hostile_code_is_reported_before_a_missing_model() -> None:
    error = refuse(flow(node("Model"), node(code=EVIL, node_id="bad")), CATALOGUE)
    assert error is not None
    assert (error.code, error.node) == ("refused", "bad")


def test_nodes_inside_groups_are_looked_at_and_named_by_the_group() -> None:
    assert refuse(flow(group(group(node()))), CATALOGUE) is None
    error = refuse(flow(group(group(node(code=EVIL), node_id="inner"), node_id="outer")), CATALOGUE)
    assert error is not None
    assert (error.code, error.node) == ("refused", "outer")


def test_groups_are_refused_when_they_are_nested_without_end() -> None:
    nested = node()
    for _ in range(40):
        nested = group(nested)
    error = refuse(flow(nested), CATALOGUE)
    assert error is not None
    assert error.code == "refused"


def test_a_group_is_refused_when_one_of_its_fields_replaces_code() -> None:
    replacing: JsonObject = {"value": "evil", "proxy": {"id": "n", "field": "code"}}
    error = refuse(flow(group(node(), code=replacing)), CATALOGUE)
    assert error is not None
    assert (error.code, error.node) == ("refused", "g")
    harmless: JsonObject = {"value": "x", "proxy": {"id": "n", "field": "text"}}
    assert refuse(flow(group(node(), text=harmless)), CATALOGUE) is None


@pytest.mark.parametrize(
    "edge",
    [
        {"source": "a", "target": "n", "data": {"targetHandle": {"fieldName": "code"}}},
        {"source": "a", "target": "n", "data": {"targetHandle": {"fieldName": "x", "proxy": {"field": "code"}}}},
        {"source": "a", "target": "n", "targetHandle": "{œfieldNameœ: œcodeœ,œidœ:œnœ}"},
    ],
)
def test_a_connection_into_code_is_refused_wherever_it_is(edge: JsonObject) -> None:
    for wired in (flow(node(), edges=(edge,)), flow(group(node(), edges=(edge,)))):
        error = refuse(wired, CATALOGUE)
        assert error is not None
        assert error.code == "refused"


def test_notes_are_not_looked_at_and_are_not_run() -> None:
    note = {**node(code=EVIL, node_id="note"), "type": "noteNode"}
    mixed = flow(note, node())
    assert refuse(mixed, CATALOGUE) is None
    assert runnable(mixed)["nodes"] == [node()]


@given(st.text(alphabet="ab \t\r\n"), st.text(alphabet="ab \t\r\n"))
def test_same_code_is_an_equivalence_that_keeps_every_other_character(one: str, other: str) -> None:
    assert same_code(one, one)
    assert same_code(one, other) == same_code(other, one)
    if same_code(one, other):
        assert one.split() == other.split()


def test_nothing_is_changed_by_looking() -> None:
    mixed = flow(group(node()), node("Model", node_id="m"))
    before = copy.deepcopy(mixed.to_json())
    refuse(mixed, CATALOGUE)
    assert mixed.to_json() == before
