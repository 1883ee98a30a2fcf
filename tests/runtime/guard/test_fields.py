"""Fields whose value is executed are read like code."""

from __future__ import annotations

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject, Node
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


def test_a_component_that_executes_a_field_is_not_run_however_harmless_the_field() -> None:
    for told in (
        reason(node("PythonREPLComponent", python_code="print(1 + 1)", global_imports="math")),
        reason(node("PythonFunction", function_code="def f():\n    return {'a': 1}")),
        reason(node("PythonFunction", function_code="def f():\n    return open('/etc/passwd').read()")),
    ):
        assert told is not None
        assert "executes Python" in told


def test_a_component_that_executes_what_an_agent_sends_is_refused_whatever_its_field_holds() -> None:
    assert reason(node("PythonREPLTool", python_code="print(1)")) is not None
    assert reason(node("PythonREPLComponent", {"tool_mode": True}, python_code="print(1)")) is not None


def test_a_connection_into_an_executed_field_is_refused() -> None:
    edge: JsonObject = {"source": "a", "target": "n", "data": {"targetHandle": {"fieldName": "python_code"}}}
    assert reason(node("PythonREPLComponent", python_code="print(1)"), [edge]) is not None
