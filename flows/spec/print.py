"""Printing a flow as spec text: what differs from the defaults, in a form that builds the same flow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from flows.catalogue import Catalogue
from flows.document import Flow, Node
from flows.faults import Fault
from flows.fields.model_values import CONNECTED
from flows.fields.prompts import PROMPT_TYPES
from flows.fields.secrets import REDACTED, is_secret, looks_secret, shown_value
from flows.fields.values import coerce
from flows.json_values import EMPTY, Json, JsonObject, as_object, as_text, same_json

_SIMPLE = re.compile(r"[^\s\"'|#\[{\-][^\n\r]*")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that a terminal would follow when the text is shown there; spec text holds them escaped."""
_LINE_ENDS = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_KEY_FIELD = re.compile(r"\w+")


@dataclass(frozen=True)
class PrintedSpec:
    """A flow as spec text, and warnings about what the text omits."""

    text: str
    faults: tuple[Fault, ...] = ()


def to_spec(flow: Flow, catalogue: Catalogue | None = None) -> str:
    """Return the spec text of a flow; building it gives a flow with the same fingerprint.

    Secrets and what spec text cannot express are printed as comments, secrets as `***REDACTED***` or as the name of
    the variable that holds them; `print_spec` also reports what the text omits.

    Args:
        flow: the flow.
        catalogue: says which values are defaults and need no line; without it every non-empty value of a
            visible field is printed.
    """
    return _text(flow, catalogue, [])


def print_spec(flow: Flow, catalogue: Catalogue | None = None) -> PrintedSpec:
    """Return the spec text of a flow and a warning for everything that the text omits.

    If there are no warnings, building the text gives a flow with the same fingerprint; with a catalogue
    this is verified by building it.

    Args:
        flow: the flow.
        catalogue: as for `to_spec`.
    """
    omissions: list[Fault] = []
    text = _text(flow, catalogue, omissions)
    for node in flow.components:
        omissions += _omitted_parts(node, catalogue)
    if catalogue is not None and not omissions:
        omissions += _build_differences(flow, text, catalogue)
    return PrintedSpec(text, tuple(omissions))


def _text(flow: Flow, catalogue: Catalogue | None, omissions: list[Fault]) -> str:
    ids = spec_ids(flow)
    lines: list[str] = []
    for key, value in (("name", flow.name), ("description", flow.description)):
        if value:
            lines += _entry(f"{key}", value, indent="")
    lines += ["", "nodes:"] if lines else ["nodes:"]
    lines += [f"  {ids[node.id]}: {_type_text(node.type)}" for node in flow.components]
    edges, lost = _edge_lines(flow, ids, omissions)
    if edges:
        lines += ["", "edges:", *edges]
    config: list[str] = []
    for node in flow.components:
        config += _value_lines(node, ids[node.id], catalogue, omissions)
    if config:
        lines += ["", "config:", *config]
    notes = [*lost, *_note_lines(flow, omissions)]
    if notes:
        lines += ["", *notes]
    return "\n".join(lines) + "\n"


def spec_ids(flow: Flow) -> dict[str, str]:
    """Return a short readable id for each component: its type in one word, numbered from the second on."""
    counts: dict[str, int] = {}
    ids: dict[str, str] = {}
    for node in flow.components:
        word = re.sub(r"\W+", "", node.type, flags=re.ASCII) or "Node"
        counts[word] = counts.get(word, 0) + 1
        name = word if counts[word] == 1 else f"{word}_{counts[word]}"
        while name in ids.values():
            counts[word] += 1
            name = f"{word}_{counts[word]}"
        ids.setdefault(node.id, name)
    return ids


def value_text(value: Json, *, indent: str = "    ") -> str:
    """Return a value as a spec writes it after its key: plain, quoted, as a block, or as JSON."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _CONTROLS.search(value):
        return json.dumps(value).replace("\x7f", r"\u007f")
    if _LINE_ENDS.search(value) or value != value.strip():
        return json.dumps(value)
    if "\n" in value:
        if any(line and not line[0].isspace() for line in value.split("\n")):
            return "|\n" + "\n".join(f"{indent}{line}" if line else "" for line in value.split("\n"))
        return json.dumps(value)
    if not _SIMPLE.fullmatch(value) or " #" in value or "\t#" in value:
        return json.dumps(value, ensure_ascii=False)
    return value


def _entry(key: str, value: Json, *, indent: str = "  ") -> list[str]:
    return f"{indent}{key}: {value_text(value, indent=indent + '  ')}".split("\n")


def _type_text(type_name: str) -> str:
    return type_name if re.fullmatch(r"[^\s\"'#][^\"'#\n]*", type_name) else json.dumps(type_name)


def _edge_lines(flow: Flow, ids: Mapping[str, str], omissions: list[Fault]) -> tuple[list[str], list[str]]:
    lines, lost = list[str](), list[str]()
    for edge in flow.edges:
        if edge.source in ids and edge.target in ids and edge.source_port and edge.target_port:
            begin = f"{ids[edge.source]}.{_port_text(edge.source_port)}"
            lines.append(f"  {begin} -> {ids[edge.target]}.{_port_text(edge.target_port)}")
        else:
            lost.append("# A dangling edge is omitted.")
            message = f"The edge {edge.source} -> {edge.target} leads nowhere and is omitted."
            omissions.append(_omission("unsaid_edge", message, edge.source))
    return lines, lost


def _port_text(name: str) -> str:
    return name if re.fullmatch(r"[^\s\"'#>][^\n\"'#>]*", name) and name == name.strip() else json.dumps(name)


def _value_lines(node: Node, spec_id: str, catalogue: Catalogue | None, omissions: list[Fault]) -> list[str]:
    component = catalogue.get(node.type) if catalogue is not None else None
    lines: list[str] = []
    names = sorted(node.template, key=lambda name: node.template[name].get("type") not in PROMPT_TYPES)
    for name in names:
        field = node.template[name]
        default = as_object(component.template.get(name)) if component is not None else None
        if not _is_printed(name, field, default):
            continue
        key = f"{spec_id}.{name if _KEY_FIELD.fullmatch(name) else json.dumps(name)}"
        hidden = _reason_to_omit(field, default)
        if hidden:
            lines.append(f"  # {key}: {hidden}")
            message = f"The value of {node.id}.{name} is omitted: {hidden}."
            code = "unsaid_secret" if REDACTED in hidden or "variable" in hidden else "unsaid_value"
            omissions.append(_omission(code, message, node.id, name))
        else:
            value = field.get("value")
            lines += _entry(key, "" if value is None else value)
    return lines


def _is_printed(name: str, field: JsonObject, default: JsonObject | None) -> bool:
    value = field.get("value")
    if value == CONNECTED and field.get("type") == "model":
        return False
    if field.get("show") is False and name != "code":
        return False  # the engine ignores what is hidden
    if default is not None:
        before = default.get("value")
        return not (same_json(value, before) or (value in EMPTY and before in EMPTY))
    return name != "code" and value not in EMPTY and field.get("type") != "other"


def _reason_to_omit(field: JsonObject, default: JsonObject | None) -> str:
    """Return the comment that replaces a value that a spec cannot contain, or an empty string."""
    value = field.get("value")
    if is_secret(field):
        shown = shown_value(field)
        return f"from the variable {shown}" if shown != REDACTED else REDACTED
    if looks_secret(value):
        return REDACTED
    if field.get("load_from_db") is True and isinstance(value, str):
        return f"from the variable {as_text(value)}"
    try:
        again = coerce(default or {**field, "value": None}, value if isinstance(value, str) else json.dumps(value))
    except ValueError:
        return "has a value that a spec cannot express"
    return "" if same_json(again, value) or value in EMPTY else "has a value that a spec cannot express"


def _note_lines(flow: Flow, omissions: list[Fault]) -> list[str]:
    lines: list[str] = []
    for node in flow.nodes:
        if node.is_note:
            words = " ".join((as_text(node.definition.get("description")) or "").split())
            lines.append(f"# Note: {words[:200]}")
            omissions.append(_omission("unsaid_note", "A sticky note is only kept as a comment.", node.id))
    return lines


def _omitted_parts(node: Node, catalogue: Catalogue | None) -> list[Fault]:
    """Return what a spec omits of a component besides values."""
    component = catalogue.get(node.type) if catalogue is not None else None
    faults: list[Fault] = []
    if "flow" in node.definition:
        faults.append(_omission("unsaid_group", f"{node.id} is a group; its content is omitted.", node.id))
    if component is None:
        if catalogue is not None:
            faults.append(
                _omission("unsaid_type", f"The catalogue has no type {node.type!r} to build it from.", node.id)
            )
        return faults
    if node.code.strip() != component.code.strip():
        faults.append(_omission("unsaid_code", f"{node.id} has modified code, which is omitted.", node.id, "code"))
    if node.display_name not in (component.display_name, node.type):
        message = f"The name {node.display_name!r} of {node.id} is omitted."
        faults.append(_omission("unsaid_name", message, node.id))
    return faults


def _build_differences(flow: Flow, text: str, catalogue: Catalogue) -> list[Fault]:
    from flows.fingerprints import fingerprint
    from flows.spec.build import build

    made = build(text, catalogue)
    if made.flow is None:
        ids = {spec_id: node_id for node_id, spec_id in spec_ids(flow).items()}
        errors = [(f"The text does not build: {fault.message}", fault) for fault in made.faults if fault.is_error]
        return [_omission("unsaid_flow", text, ids.get(fault.node or ""), fault.field) for text, fault in errors]
    if fingerprint(made.flow) != fingerprint(flow):
        message = "The flow built from the text differs from this one in something that a spec cannot express."
        return [_omission("unsaid_flow", message, None)]
    return []


def _omission(code: str, message: str, node: str | None, field: str | None = None) -> Fault:
    fix = "Save the flow as JSON to keep it."
    return Fault(code=code, message=message, fix=fix, severity="warning", node=node, field=field)
