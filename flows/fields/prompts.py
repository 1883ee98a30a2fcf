"""Prompt templates: their variables become input fields of the node, as in the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import Formatter

from flows.actions import NodeChange, field_path
from flows.document import Node
from flows.json_values import MISSING, Json, JsonObject, Missing, as_object, get_at, same_json, texts

PROMPT_TYPES = ("prompt", "mustache")
BRACKETS_FIELD = "use_double_brackets"
_BAD_LETTERS = frozenset(" ,.:;!?/\\()[]")
_BAD_NAMES = frozenset(
    {
        "code",
        "input_variables",
        "output_parser",
        "partial_variables",
        "template",
        "template_format",
        "validate_template",
    }
)
_TAG = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_SIMPLE_TAG = re.compile(r"\{\{([a-zA-Z_][a-zA-Z0-9_]*)\}\}")
_COMPLEX_TAG = re.compile(r"\{\{[{#/^&>!.]")


class TemplateError(ValueError):
    """A template that the engine would refuse; `fix` says what to write instead."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


def template_variables(template: str, *, mustache: bool = False) -> list[str]:
    """Return the variables of a template in order of appearance.

    Args:
        template: the text; `{name}` is a variable and `{{` a brace; with `mustache`, `{{name}}` is a variable.
        mustache: whether the node uses double brackets.

    Raises:
        TemplateError: the engine would refuse the template.
    """
    if mustache and (_COMPLEX_TAG.search(template) or any(not _SIMPLE_TAG.match(tag) for tag in _tags(template))):
        raise TemplateError(
            "Only simple {{name}} variables are allowed in double brackets.",
            "Write {{name}} with letters, digits and underscores, without spaces or other signs.",
        )
    single = _single_bracket_names(template)
    double = _double_bracket_names(template, mustache=mustache)
    if mustache:
        names = [name for name in double if name not in single or f"{{{{{name}}}}}" in template]
    else:
        names = [name for name in single if name not in double]
    for name in names:
        _check_name(name)
    return names


def template_changes(node: Node, field: str, template: str, *, mustache: bool) -> list[NodeChange]:
    """Return what a new template changes in its node besides its text: its variables are added and removed as fields.

    Variables that remain keep their values.

    Raises:
        TemplateError: the engine would refuse the template.
    """
    names = template_variables(template, mustache=mustache)
    custom = node.definition.get("custom_fields", MISSING)
    before = texts(as_object(custom).get(field))
    changes: list[NodeChange] = []
    for name in names:
        old = get_at(node.raw, field_path(name))
        if name not in before and name in (field, BRACKETS_FIELD):
            raise TemplateError(f"A variable cannot be called {name!r}.", "The component has a setting of that name.")
        new = variable_field(name, as_object(old).get("value", ""))
        if not same_json(old, new):
            changes.append(NodeChange(field_path(name), old, new))
    for name in before:
        old = get_at(node.raw, field_path(name))
        if name not in names and not isinstance(old, Missing):
            changes.append(NodeChange(field_path(name), old, MISSING))
    after: JsonObject = {**as_object(custom), field: list[Json](names)}
    if not same_json(custom, after):
        changes.append(NodeChange(("data", "node", "custom_fields"), custom, after))
    return changes


def template_error(node: Node, field: str) -> TemplateError | None:
    """Return why the engine would refuse the template that a node holds, or None."""
    template = node.value(field)
    if not isinstance(template, str):
        return None
    try:
        template_changes(node, field, template, mustache=node.value(BRACKETS_FIELD) is True)
    except TemplateError as error:
        return error
    return None


def variable_field(name: str, value: Json = "") -> JsonObject:
    """Return the input field that the engine creates for a template's variable."""
    return {
        "advanced": False,
        "api_editable": False,
        "display_name": name,
        "dynamic": False,
        "field_type": "str",
        "fileTypes": [],
        "file_path": "",
        "info": "",
        "input_types": ["Message"],
        "list": False,
        "load_from_db": False,
        "multiline": True,
        "name": name,
        "placeholder": "",
        "required": False,
        "show": True,
        "title_case": False,
        "type": "str",
        "value": value,
    }


def _single_bracket_names(template: str) -> list[str]:
    names: list[str] = []
    try:
        parts = [(name, spec) for _, name, spec, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise TemplateError(
            f"The template's braces do not match: {error}.", "Write {name} for a variable, {{ or }} for a brace itself."
        ) from None
    for name, spec in parts:
        if spec and ("{" in spec or "}" in spec):
            raise TemplateError("A variable's format cannot hold another variable.", "Write plain {name} variables.")
        if name and (name.isdigit() or "." in name or "[" in name or "]" in name):
            _check_name(name)
        if name:
            names.append(name)
    return _unique(names)


def _double_bracket_names(template: str, *, mustache: bool) -> list[str]:
    depth, names = 0, list[str]()
    rest = _TAG.sub("", template)
    if "{{" in rest:
        advice = "Check that every {{name}} is closed." if mustache else "Close every {{ with }}."
        raise TemplateError("The template opens {{ without closing it.", advice)
    for tag in _TAG.findall(template):
        inner = str(tag).strip()
        kind, key = inner[:1], inner.lstrip("#^/&{").strip()
        if kind == "/":
            depth -= 1
        elif kind not in {"!", ">", "="} and key and key != "." and depth == 0:
            names.append(key.split(".")[0])
        if kind in {"#", "^"}:
            depth += 1
    return _unique(names)


def _check_name(name: str) -> None:
    fix = "Use letters, digits and underscores, starting with a letter; write {{ and }} for braces that are text."
    if name[0].isdigit() or any(letter in _BAD_LETTERS for letter in name):
        raise TemplateError(f"{name!r} cannot be a template variable.", fix)
    if name.startswith("_"):
        raise TemplateError(f"{name!r} cannot be a template variable: names with a leading _ are reserved.", fix)
    if name in _BAD_NAMES:
        raise TemplateError(f"{name!r} cannot be a template variable: the name is reserved.", "Choose another name.")


def _tags(template: str) -> list[str]:
    return [match.group(0) for match in _TAG.finditer(template)]


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
