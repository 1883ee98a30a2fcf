"""The generated schema and types are those of the models."""

from pathlib import Path

import pytest

from agent.contract.events import CompleteEvent, TokenEvent
from scripts.contract import files, schema, typescript


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_the_generated_files_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == files()[path], "run: python -m scripts.contract"


def test_keys_that_may_be_absent_are_not_required_and_never_null() -> None:
    token = schema()["$defs"][TokenEvent.__name__]
    assert token["required"] == ["event", "chunk"]
    assert token["properties"]["turn_id"] == {"title": "Turn Id", "type": "string"}
    data = schema()["$defs"]["CompleteData"]
    assert "flow" in data["required"]
    assert "proposal" not in data["required"]
    assert schema()["$defs"][CompleteEvent.__name__]["properties"]["data"] == {"$ref": "#/$defs/CompleteData"}


def test_types_are_written_in_typescript() -> None:
    definitions = {
        "Kind": {"enum": ["a", "b"], "type": "string"},
        "Thing": {
            "description": "A thing.\n\nAttributes:\n    kind: which.",
            "properties": {
                "kind": {"$ref": "#/$defs/Kind"},
                "tags": {"items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "type": "array"},
                "more": {"additionalProperties": {"type": "number"}, "type": "object"},
                "any": {},
            },
            "required": ["kind"],
        },
    }
    assert typescript({"$defs": definitions}).partition("\n\n")[2] == (
        'export type Kind = "a" | "b";\n\n'
        "/** A thing. */\n"
        "export interface Thing {\n  kind: Kind;\n  tags?: (string | number)[];\n"
        "  more?: Record<string, number>;\n  any?: unknown;\n}\n"
    )
