"""Fields whose value is executed are read like code."""

from __future__ import annotations

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject, Node
from flows.json_values import as_object
from runtime.guard import executed_fields, refuse

CODE = "class X: pass"


def definition(kind_of_field: str = "str") -> JsonObject:
    template: JsonObject = {"code": {"type": "code", "value": CODE}, "snippet": {"type": kind_of_field}}
    return {"display_name": "X", "template": template, "outputs": []}


CATALOGUE = Catalogue.from_json(
    {
        "format": 1,
        "lfx": "0",
        "runner": "x",
        "components": {
            "PythonREPLComponent": definition(),
            "PythonFunction": definition(),
            "PythonREPLTool": definition(),
            "Custom": definition("code"),
        },
    }
)


def node(kind: str, more: JsonObject | None = None, **values: Json) -> Node:
    template: JsonObject = {"code": {"type": "code", "value": CODE}}
    template.update({name: {"type": "str", "value": value} for name, value in values.items()})
    inner: JsonObject = {"display_name": "X", "template": template, "outputs": [], **(more or {})}
    raw: JsonObject = {"id": "n", "type": "genericNode", "data": {"id": "n", "type": kind, "node": inner}}
    return Flow.from_json({"data": {"nodes": [raw], "edges": []}}).nodes[0]


def definition_of(found: Node) -> dict[str, JsonObject]:
    template = as_object(as_object(as_object(found.raw["data"])["node"])["template"])
    return {name: as_object(field) for name, field in template.items()}


def reason(found: Node, edges: list[Json] | None = None) -> str | None:
    error = refuse(Flow.from_json({"data": {"nodes": [found.raw], "edges": edges or []}}), CATALOGUE)
    return None if error is None else error.message


def test_the_fields_that_are_executed_are_found_with_what_stands_in_their_way() -> None:
    (field,) = executed_fields(node("PythonREPLComponent", python_code="import os\nprint(os.environ)"), CATALOGUE)
    assert (field.node, field.name) == ("n", "python_code")
    assert [(found.line, found.rule) for found in field.violations] == [(2, "secrets")]


def test_a_field_that_the_catalogue_calls_code_is_executed() -> None:
    (field,) = executed_fields(node("Custom", snippet="eval('1')"), CATALOGUE)
    assert (field.name, [found.rule for found in field.violations]) == ("snippet", ["dynamic_code"])
    assert executed_fields(node("PythonREPL", text="eval('1')"), CATALOGUE) == []


def test_modules_that_a_component_imports_for_the_code_are_known_there() -> None:
    (field,) = executed_fields(
        node("PythonREPLComponent", python_code="os.system('x')", global_imports="math, os"), CATALOGUE
    )
    assert [found.rule for found in field.violations] == ["process"]


def test_code_in_a_fence_is_read_as_it_is_executed() -> None:
    (field,) = executed_fields(node("PythonREPLComponent", python_code="```python\nprint(1)\n```"), CATALOGUE)
    assert (field.code, field.violations) == ("print(1)", ())


def test_a_field_that_holds_no_text_is_a_violation() -> None:
    (field,) = executed_fields(node("PythonREPLComponent", python_code=["print(1)"]), CATALOGUE)
    assert [found.rule for found in field.violations] == ["syntax"]


def test_a_component_that_executes_a_field_runs_when_the_field_passes_the_guard() -> None:
    for clean in (
        node("PythonREPLComponent", python_code="print(1 + 1)", global_imports="math"),
        node("PythonFunction", function_code="def f():\n    return {'a': 1}"),
        node("PythonREPLTool", python_code="print(1)"),
    ):
        assert reason(clean) is None


def test_a_component_that_executes_a_field_is_refused_with_place_and_line_when_the_field_does_not_pass() -> None:
    for hostile, line in (
        (node("PythonREPLComponent", python_code="a = 1\nprint(open('/etc/passwd').read())"), "line 2"),
        (node("PythonREPLComponent", python_code="os.system('id')", global_imports="os"), "line 1"),
        (node("PythonREPLComponent", python_code=["print(1)"]), "line 1"),
        (node("PythonFunction", function_code="def f():\n    return open('/etc/passwd').read()"), "line 2"),
        (node("Custom", snippet="x = 1\n\neval('1')"), "line 3"),
    ):
        told = reason(hostile)
        assert told is not None
        assert line in told
        assert "its field" in told


def test_a_component_that_executes_what_an_agent_sends_is_refused_whatever_its_field_holds() -> None:
    tool: JsonObject = {"outputs": [{"name": "component_as_tool", "types": ["Tool"]}]}
    assert reason(node("PythonREPLComponent", {"tool_mode": True}, python_code="print(1)")) is not None
    assert reason(node("PythonREPLComponent", tool, python_code="print(1)")) is not None
    for port in ("component_as_tool", "api_build_tool"):
        by_data: JsonObject = {"source": "n", "target": "a", "data": {"sourceHandle": {"name": port}}}
        by_text: JsonObject = {"source": "n", "target": "a", "sourceHandle": f"{{œnameœ: œ{port}œ,œidœ:œnœ}}"}
        for edge in (by_data, by_text):
            assert reason(node("PythonREPLTool", python_code="print(1)"), [edge]) is not None


def test_a_component_that_executes_a_field_is_refused_where_the_text_may_still_change() -> None:
    variable = node("PythonREPLComponent", python_code="HOME")
    definition_of(variable)["python_code"]["load_from_db"] = True
    assert reason(variable) is not None
    held: JsonObject = {"data": {"nodes": [node("PythonREPLComponent", python_code="print(1)").raw], "edges": []}}
    inner: JsonObject = {"display_name": "Group", "template": {}, "flow": held}
    group: JsonObject = {"id": "g", "type": "genericNode", "data": {"id": "g", "type": "GroupNode", "node": inner}}
    assert reason(Flow.from_json({"data": {"nodes": [group], "edges": []}}).nodes[0]) is not None


def test_a_connection_into_an_executed_field_is_refused() -> None:
    edge: JsonObject = {"source": "a", "target": "n", "data": {"targetHandle": {"fieldName": "python_code"}}}
    assert reason(node("PythonREPLComponent", python_code="print(1)"), [edge]) is not None
