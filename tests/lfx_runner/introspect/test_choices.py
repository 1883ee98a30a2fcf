"""Chosen options: our nodes after a choice beside what the engine's own refresh makes, for every known option."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.edits.new_nodes import new_node
from flows.fields.assignment import settings
from flows.fields.curl import COMMAND
from flows.fields.values import option_names
from flows.json_values import Json, as_list, as_object, as_text, texts

pytestmark = [pytest.mark.engine]
Step = tuple[str, Json]
ROWS: dict[str, list[Json]] = {
    "routes": [
        [],
        [{"route_category": "Good", "route_description": "", "output_value": ""}],
        [{"route_category": name, "route_description": "d", "output_value": ""} for name in ("a", "b b", "C")],
    ],
    "form_fields": [
        [],
        [{"field_name": "a", "field_type": "Text"}, {"field_name": "b b", "field_type": "Handle"}],
        [{"field_name": kind.lower(), "field_type": kind} for kind in ("Text", "Data", "Number", "Handle", "Boolean")],
    ],
    "decisions": [[], ["Go"], ["Ship it", "Hold", "Ship it", " "]],
    "number_of_fields": [1, 2, 4],
}
EXEMPT = {
    # A new File shows both though they belong to the advanced mode, which is off; ours hides them after a choice.
    ("File", "pipeline"),
    ("File", "ocr_engine"),
}
COMMANDS = (
    "curl https://example.com/a?b=c",
    'curl -X POST example.com -H \'Content-Type: application/json\' -H "X-Key: a b" -d \'{"a": 1, "b": {"c": [2]}}\'',
    "curl \\\n  -X PUT \\\n  --data-raw 'plain text' \\\n  https://example.com",
    "curl -X PATCH https://example.com -d '[1, 2]' -k -s --compressed",
    "curl -X DELETE 'https://example.com/items/7'",
)
MISREAD = (
    "curl https://example.com -d a=b",  # cURL posts data; the engine gets
    "curl --request POST https://example.com",  # the engine overlooks the method, and gets
    "curl -u ada:pw https://example.com",  # the engine fails
    "curl https://example.com -o file.txt",  # the engine takes the file for the address
)
COMPARED = ("show", "required", "list", "options", "type", "input_types", "advanced", "display_name")


def test_every_choice_gives_the_fields_and_outputs_of_the_engines_refresh(
    inside: Callable[..., Any], full_catalogue: Catalogue
) -> None:
    sequences = [(part, steps) for part in full_catalogue for steps in sequences_of(part) if part.choices]
    assert len(sequences) > 150
    answers = inside("refreshed", [[part.type, [list(step) for step in steps]] for part, steps in sequences])
    wrong: list[str] = []
    for (part, steps), theirs in zip(sequences, answers, strict=True):
        assert isinstance(theirs, dict), (part.type, steps, theirs)
        ours = chosen(part, steps)
        governed = governed_fields(part)
        for name in governed | (set(theirs["fields"]) ^ set(ours["fields"])):
            if (part.type, name) in EXEMPT:
                continue
            one, other = ours["fields"].get(name), theirs["fields"].get(name)
            if as_object(one).get("show") is False and as_object(other).get("show") is False:
                continue
            keys = [key for key in COMPARED if key != "show" or name not in dict(steps)]  # what is set is shown
            if (one is None) != (other is None) or any(
                not alike(as_object(one).get(key), as_object(other).get(key)) for key in keys
            ):
                wrong.append(f"{part.type} {steps}: field {name}")
        if outputs_of(ours) != outputs_of(theirs):
            wrong.append(f"{part.type} {steps}: outputs {outputs_of(ours)} {outputs_of(theirs)}")
    assert not wrong, "\n".join(wrong[:20])


def test_a_pasted_command_fills_the_fields_as_the_engines_refresh_does(
    inside: Callable[..., Any], full_catalogue: Catalogue
) -> None:
    part = full_catalogue.get("APIRequest")
    assert part is not None
    sequences: list[list[Step]] = [[("mode", "cURL"), (COMMAND, command)] for command in (*COMMANDS, *MISREAD)]
    answers = inside("refreshed", [[part.type, [list(step) for step in steps]] for steps in sequences])
    for steps, theirs in zip(sequences, answers, strict=True):
        ours = chosen(part, steps)["fields"]
        found = {name: ours[name].get("value") for name in ("url_input", "method", "headers", "body")}
        command = as_text(steps[-1][1])
        if command in MISREAD:
            assert isinstance(theirs, str) or any(theirs["fields"][n]["value"] != v for n, v in found.items()), command
        else:
            assert {name: theirs["fields"][name]["value"] for name in found} == found, command


def test_what_cannot_be_examined_is_unknown_and_the_rest_is_small(full_catalogue: Catalogue) -> None:
    unknown = {part.type for part in full_catalogue if part.choices is None}
    assert unknown <= {"RunFlow"}  # it reads the flows that Langflow has stored
    rules = {part.type: part.choices for part in full_catalogue if part.choices}
    assert len(rules) > 20
    assert len(json.dumps(rules)) < 100_000
    secrets = {name for part in full_catalogue for name, field in part.template.items() if field.get("password")}
    for part in full_catalogue:
        for rule in (as_object(rule) for rules in (part.choices or {}).values() for rule in as_list(rules)):
            for change in (rule.get("base"), *as_object(rule.get("set")).values()):
                fields = as_object(as_object(change).get("fields"))
                assert not [name for name in secrets & set(fields) if as_object(fields[name]).get("value")]


def sequences_of(part: ComponentType) -> Iterator[list[Step]]:
    """Every known option of a type, after the choices under which it is offered; and rows of several lengths."""
    for name, rules in (part.choices or {}).items():
        for rule in map(as_object, as_list(rules)):
            before = [
                (other, value_of(part, other, as_text(key))) for other, key in as_object(rule.get("when")).items()
            ]
            if "rows" in rule:
                yield from ([*before, (name, rows)] for rows in ROWS[name])
                continue
            keys = list(dict.fromkeys([*texts(rule.get("keys")), *as_object(rule.get("set"))]))
            values = [value_of(part, name, key, before) for key in keys]
            held = chosen(part, before)["fields"][name].get("value")
            for value in values:
                # What a field holds already is no choice until something else was chosen.
                other = [(name, each) for each in values if each != held][:1] if value == held else []
                yield [*before, *other, (name, value)]


def value_of(part: ComponentType, name: str, key: str, before: list[Step] | None = None) -> Json:
    """The value that stands behind a key."""
    field = chosen(part, before or [])["fields"][name]
    kind = field.get("type")
    if kind == "bool":
        return key == "true"
    if kind == "file":
        return ["a.txt", "b.txt"] if key == "many" else [f"a{key}"] if key else []
    if kind == "sortableList":
        return [option for option in as_list(field["options"]) if as_object(option).get("name") == key]
    if field.get("list"):
        return [key] if key else []
    assert key in option_names(field)
    return key


def chosen(part: ComponentType, steps: list[Step]) -> dict[str, Any]:
    """Our node after the choices."""
    node = new_node(part, "x")
    for name, value in steps:
        outcome = settings(node, {name: value}, part)
        assert not outcome.faults, outcome.faults
        node = outcome.node
    return {"fields": dict(node.template), "outputs": list(node.outputs)}


def governed_fields(part: ComponentType) -> set[str]:
    """The fields that some rule of a type decides about."""
    found: set[str] = set()
    for rules in (part.choices or {}).values():
        for rule in map(as_object, as_list(rules)):
            for change in (rule.get("base"), *as_object(rule.get("set")).values()):
                found |= set(as_object(as_object(change).get("fields")))
    return found


def alike(one: Json, other: Json) -> bool:
    empty = (None, False, [], "")
    return one == other or (one in empty and other in empty)


def outputs_of(state: dict[str, Any]) -> list[Any]:
    keys = ("name", "types", "method", "display_name", "group_outputs")
    return [[output.get(key) or None for key in keys] for output in state["outputs"]]
