"""The variables of a template become fields, as the engine makes them."""

from collections.abc import Callable

import pytest
from dirty_equals import IsPartialDict
from inline_snapshot import snapshot

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import configure
from flows.fields.prompts import TemplateError, template_variables, variable_field


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("Say {name} and {other}", ["name", "other"]),
        ("{x} {{x}}", []),
        ("{{x}} {y}", ["y"]),
        ("{a!r} {b:>10}", ["a", "b"]),
        ("{a}\n{a}", ["a"]),
        ("{a-b} {é}", ["a-b", "é"]),
        ('{"k": 1}', ['"k"']),
        ("{}", []),
        ("", []),
    ],
)
def test_variables_are_found_in_order_of_appearance(template: str, names: list[str]):
    assert template_variables(template) == names


@pytest.mark.parametrize(
    ("template", "names"),
    [("{{a}} {{b}} {{a}}", ["a", "b"]), ("{x} {{x}}", ["x"]), ("{a} b", []), ("{{x}} {y}", ["x"])],
)
def test_double_brackets_mark_variables_when_the_node_uses_them(template: str, names: list[str]):
    assert template_variables(template, mustache=True) == names


@pytest.mark.parametrize(
    "template",
    [
        "{",
        "}",
        "{1a}",
        "{a.b}",
        "{a b}",
        "{a[0]}",
        "{0}",
        "{code}",
        "{_x}",
        "{a:{w}}",
        "{{a}",
        "a {{ b",
        "{a,b}",
    ],
)
def test_template_is_refused_when_the_engine_would_refuse_it(template: str):
    with pytest.raises(TemplateError) as caught:
        template_variables(template)
    assert caught.value.fix


@pytest.mark.parametrize(
    "template", ["{{a b}}", "{{#a}}x{{/a}}", "{{{a}}}", "{{ x }}", "{{code}}", "{{_x}}", "{{a.b}}"]
)
def test_double_bracket_template_is_refused_when_it_is_not_simple(template: str):
    with pytest.raises(TemplateError):
        template_variables(template, mustache=True)


def test_variable_field_has_the_engines_form():
    assert variable_field("name", "v") == snapshot(
        {
            "advanced": False,
            "api_editable": False,
            "display_name": "name",
            "dynamic": False,
            "field_type": "str",
            "fileTypes": [],
            "file_path": "",
            "info": "",
            "input_types": ["Message"],
            "list": False,
            "load_from_db": False,
            "multiline": True,
            "name": "name",
            "placeholder": "",
            "required": False,
            "show": True,
            "title_case": False,
            "type": "str",
            "value": "v",
        }
    )


PROMPT = """\
nodes:
  A: ChatInput
  P: Prompt Template
  B: ChatOutput
edges:
  A.message -> P.text
  P.prompt -> B.input_value
config:
  P.tone: kind
  P.template: "{tone}: {text}"
"""


def test_variables_can_be_wired_and_set_when_a_spec_brings_them(built: Callable[[str], tuple[Flow, dict[str, str]]]):
    flow, ids = built(PROMPT)
    node = flow.node(ids["P"])
    assert node is not None
    assert node.definition["custom_fields"] == {"template": ["tone", "text"]}
    assert node.value("tone") == "kind"
    assert [edge.target_port for edge in flow.edges] == ["text", "input_value"]


def test_stale_variables_and_their_edges_go_when_the_template_changes(
    built: Callable[[str], tuple[Flow, dict[str, str]]], catalogue: Catalogue
):
    flow, ids = built(PROMPT)
    edit = configure(flow, catalogue, ids["P"], {"template": "{tone} only {more}"})
    node = edit.flow.node(ids["P"])
    assert node is not None
    assert node.field("text") is None
    assert (node.value("tone"), node.value("more")) == ("kind", "")
    assert [edge.target_port for edge in edit.flow.edges] == ["input_value"]
    assert [action.kind for action in edit.actions] == ["disconnect", "configure"]
    assert edit.lost == (f"{ids['A']}.message -> {ids['P']}.text",)


def test_template_follows_when_the_brackets_are_switched(
    built: Callable[[str], tuple[Flow, dict[str, str]]], catalogue: Catalogue
):
    flow, ids = built(PROMPT)
    edit = configure(flow, catalogue, ids["P"], {"template": "Dear {{who}}", "use_double_brackets": True})
    node = edit.flow.node(ids["P"])
    assert node is not None
    assert node.field("template") == IsPartialDict(type="mustache", value="Dear {{who}}")
    assert node.definition["custom_fields"] == {"template": ["who"]}
    assert [edge.target_port for edge in edit.flow.edges] == ["input_value"]
