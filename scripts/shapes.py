"""What the generated contracts share: how schemas are made from models, and how a type is written."""

import json
from typing import Any, cast

from pydantic import TypeAdapter

from agent.contract.events import EVENTS
from agent.contract.runs import RUN_STREAM_EVENTS
from agent.contract.schemas import AsReceived

REF = "#/$defs/"

Schema = dict[str, Any]


def events_schema() -> Schema:
    """The definitions of events: `Event` is one of a turn's stream, `RunStreamEvent` one of a run's."""
    definitions: Schema = {}
    unions = cast("dict[str, TypeAdapter[Any]]", {"Event": EVENTS, "RunStreamEvent": RUN_STREAM_EVENTS})
    for name, events in unions.items():
        event = events.json_schema(mode="serialization", schema_generator=AsReceived)
        definitions |= event.pop("$defs")
        definitions[name] = event
    return definitions


def shown_type(entry: Schema) -> str:
    """A type as TypeScript writes it."""
    if "$ref" in entry:
        return str(entry["$ref"]).removeprefix(REF)
    if "const" in entry:
        return json.dumps(entry["const"])
    if "enum" in entry:
        return " | ".join(json.dumps(value) for value in entry["enum"])
    if choices := entry.get("anyOf") or entry.get("oneOf"):
        return " | ".join(dict.fromkeys(shown_type(choice) for choice in choices))
    match entry.get("type"):
        case "string" | "boolean" | "null" as plain:
            return str(plain)
        case "integer" | "number":
            return "number"
        case "array":
            item = shown_type(entry.get("items", {}))
            return f"({item})[]" if "|" in item else f"{item}[]"
        case "object":
            values = entry.get("additionalProperties")
            inner = shown_type(cast("Schema", values)) if isinstance(values, dict) else "unknown"
            return f"Record<string, {inner}>"
        case _:
            return "unknown"
