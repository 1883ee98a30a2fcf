"""Chosen options take effect: flows built from spec text, run by the engine, give what was asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.spec import build

pytestmark = [pytest.mark.engine]


def step(kind: str, config: str, *, output: str = "", into: str = "", more: str = "") -> str:
    """A flow of one component between the chat's ends; ports that are left out are derived."""
    settings = "".join(f"  X.{line}\n" for line in config.splitlines())
    begin = f"A -> X{'.' + into if into else ''}"
    return (
        f"nodes:\n  A: ChatInput\n  X: {kind}\n  B: ChatOutput\n{more}edges:\n  {begin}\n"
        f"  X{'.' + output if output else ''} -> B\nconfig:\n{settings}"
    )


def on_data(kind: str, config: str, *, into: str = "data") -> str:
    """A flow that puts two fields through an operation on data."""
    settings = "".join(f"  X.{line}\n" for line in config.splitlines())
    return (
        f"nodes:\n  A: ChatInput\n  D: DynamicCreateData\n  X: {kind}\n  B: ChatOutput\nedges:\n"
        f"  A -> D.dynamic_city\n  D.form_data -> X.{into}\n  X -> B\nconfig:\n{settings}"
        '  D.form_fields: [{"field_name": "city", "field_type": "Text"}, {"field_name": "age", "field_type": "Text"}]\n'
        "  D.dynamic_age: 7\n"
    )


def on_rows(kind: str, config: str, *, into: str = "df") -> str:
    """A flow that puts the message's table through an operation on tables, and each row into a line of text."""
    settings = "".join(f"  X.{line}\n" for line in config.splitlines())
    return (
        f"nodes:\n  A: ChatInput\n  O: Operations\n  X: {kind}\n  P: ParserComponent\n  B: ChatOutput\n"
        f"edges:\n  A -> O.text_input\n  O -> X.{into}\n  X -> P -> B\nconfig:\n"
        "  O.operation: Text to DataFrame\n  P.pattern: '<{name}>'\n" + settings
    )


TABLE = "| name | age |\n|---|---|\n| Ann | 7 |\n| Bob | 12 |\n| Cid | 9 |"
IF_ELSE = """nodes:
  A: ChatInput
  I: ConditionalRouter
  T: ChatOutput
  F: TextOutput
edges:
  A -> I
  I.true_result -> T
  I.false_result -> F
config:
"""
EFFECTS: dict[str, tuple[str, str, Callable[[Any], bool]]] = {
    "case conversion": (
        step("Operations", "operation: Case Conversion\ncase_type: uppercase"),
        "loud",
        lambda out: out == "LOUD",
    ),
    "word count": (
        step("Operations", "operation: Word Count"),
        "one two three",
        lambda out: '"word_count": 3' in out,
    ),
    "text replace": (
        step("Operations", "operation: Text Replace\nsearch_pattern: cat\nreplacement_text: dog"),
        "a cat",
        lambda out: out == "a dog",
    ),
    "text replace with a pattern": (
        step("Operations", "operation: Text Replace\nsearch_pattern: '[0-9]+'\nreplacement_text: '#'\nuse_regex: true"),
        "a 12 b 3",
        lambda out: out == "a # b #",
    ),
    "text head": (
        step("Operations", "operation: Text Head\nhead_characters: 2"),
        "abcdef",
        lambda out: out == "ab",
    ),
    "text join": (
        step("Operations", "operation: Text Join\ntext_input_2: tail", into="text_input", output="message_output"),
        "head",
        lambda out: "head" in out and "tail" in out,
    ),
    "legacy text operations": (
        step("TextOperations", "operation: Case Conversion\ncase_type: lowercase"),
        "LOUD",
        lambda out: out == "loud",
    ),
    "select keys": (
        on_data("Operations", "input_type: JSON\noperation: Select Keys\nselect_keys_input: city"),
        "Rome",
        lambda out: "Rome" in out and "age" not in out,
    ),
    "remove keys": (
        on_data("Operations", "input_type: JSON\noperation: Remove Keys\nremove_keys_input: city"),
        "Rome",
        lambda out: "Rome" not in out and "7" in out,
    ),
    "rename keys": (
        on_data("Operations", 'input_type: JSON\noperation: Rename Keys\nrename_keys_input: {"city": "town"}'),
        "Rome",
        lambda out: "town" in out and "city" not in out,
    ),
    "legacy data operations": (
        on_data("DataOperations", "operations: Select Keys\nselect_keys_input: city"),
        "Oslo",
        lambda out: "Oslo" in out and "age" not in out,
    ),
    "filter rows": (
        on_rows(
            "Operations",
            "input_type: Table\noperation: Filter\ncolumn_name: name\nfilter_operator: equals\nfilter_value: Bob",
        ),
        TABLE,
        lambda out: "Bob" in out and "Ann" not in out,
    ),
    "sort rows": (
        on_rows("Operations", "input_type: Table\noperation: Sort\ncolumn_name: name\nascending: false"),
        TABLE,
        lambda out: out.index("Cid") < out.index("Ann"),
    ),
    "legacy table operations": (
        on_rows("DataFrameOperations", "operation: Head\nnum_rows: 1"),
        TABLE,
        lambda out: "Ann" in out and "Bob" not in out,
    ),
    "converted to data": (
        step("TypeConverterComponent", "output_type: JSON"),
        "plain",
        lambda out: "plain" in out and "{" in out,
    ),
    "converted to a table": (
        (
            "nodes:\n  A: ChatInput\n  X: TypeConverterComponent\n  P: ParserComponent\n  B: ChatOutput\n"
            "edges:\n  A -> X -> P -> B\nconfig:\n  X.output_type: Table\n  P.pattern: '<{text}>'\n"
        ),
        "plain",
        lambda out: out == "<plain>",
    ),
    "stringified": (
        on_data("ParserComponent", "mode: Stringify", into="input_data"),
        "Rome",
        lambda out: "city" in out and "Rome" in out,
    ),
    "double brackets": (
        step("Prompt Template", "use_double_brackets: true\ntemplate: 'Say {{word}} {as is}'", into="word"),
        "hi",
        lambda out: out == "Say hi {as is}",
    ),
    "if else with a pattern": (
        f"{IF_ELSE}  I.operator: regex\n  I.match_text: '[0-9]+'\n",
        "42",
        lambda out: out == "42",
    ),
    "if else with a number": (
        f"{IF_ELSE}  I.operator: greater than\n  I.match_text: 100\n",
        "250",
        lambda out: out == "250",
    ),
    "if else that is not met": (
        f"{IF_ELSE}  I.operator: less than\n  I.match_text: 100\n",
        "250",
        lambda out: out is None,
    ),
    "several created fields": (
        (
            "nodes:\n  A: ChatInput\n  C: CreateData\n  B: ChatOutput\nedges:\n  A -> C.field_2_key\n  C -> B\n"
            'config:\n  C.number_of_fields: 2\n  C.field_1_key: {"one": "first"}\n'
        ),
        "second",
        lambda out: "first" in out,
    ),
}


@pytest.fixture(scope="module")
def results(full_catalogue: Catalogue) -> dict[str, Any]:
    """The flows of all examples."""
    built = {name: build(spec, full_catalogue) for name, (spec, _, _) in EFFECTS.items()}
    return {name: (result.flow, result.faults) for name, result in built.items()}


def test_choices_take_effect_when_the_flows_run(
    inside: Callable[..., Any], results: dict[str, Any], tmp_path: Path
) -> None:
    for name, (flow, faults) in results.items():
        assert flow is not None, (name, faults)
    answers = inside("ran", [[results[name][0].to_json()["data"], text] for name, (_, text, _) in EFFECTS.items()])
    wrong = {
        name: (answer["output"], answer["failure"])
        for (name, (_, _, right)), answer in zip(EFFECTS.items(), answers, strict=True)
        if answer["failure"] is not None or not right(answer["output"])
    }
    assert not wrong


def test_a_table_file_gives_a_table_when_its_name_says_so(
    inside: Callable[..., Any], full_catalogue: Catalogue, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("name,age\nAnn,7\nBob,12\n")
    spec = (
        "nodes:\n  F: File\n  P: ParserComponent\n  B: ChatOutput\nedges:\n  F.dataframe -> P -> B\n"
        f"config:\n  F.path: {tmp_path / 'people.csv'}\n  P.pattern: '{{name}} is {{age}}'\n"
    )
    built = build(spec, full_catalogue)
    assert built.flow is not None, built.faults
    [answer] = inside("ran", [[built.flow.to_json()["data"], None]], LANGFLOW_RESTRICT_LOCAL_FILE_ACCESS="false")
    assert answer["failure"] is None
    assert answer["output"].split("\n") == ["Ann is 7", "Bob is 12"]


def test_a_route_has_an_output_of_its_own_and_the_engine_takes_its_edge(
    inside: Callable[..., Any], full_catalogue: Catalogue
) -> None:
    spec = (
        "nodes:\n  A: ChatInput\n  R: SmartRouter\n  B: ChatOutput\n  C: TextOutput\n  D: TextOutput\n"
        "edges:\n  A -> R\n  R.category_1_result -> B\n  R.category_3_result -> C\n  R.default_result -> D\n"
        "config:\n  R.model: openai:gpt-4o\n  R.enable_else_output: true\n"
        '  R.routes: [{"route_category": "x"}, {"route_category": "y"}, {"route_category": "z"}]\n'
    )
    built = build(spec, full_catalogue)
    assert built.flow is not None, built.faults
    [answer] = inside("ran", [[built.flow.to_json()["data"], "hello"]])
    # Without a model's key the router itself fails; every edge was taken before that.
    assert answer["failure"] is not None
    assert answer["failure"]["node"] == built.ids["R"]
