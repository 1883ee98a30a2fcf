"""The generated schema and types are those of the models."""

import pytest
from pydantic import TypeAdapter

from agent.contract.events import CompleteEvent, TokenEvent
from flows.catalogue import Catalogue
from flows.faults import Fault
from flows.spec import build
from runtime.results import ModelUsage, RunError, RunFile, RunHost, RunMetrics, RunResult
from scripts.contract import FOLDER, NAMES, files, schema, typescript
from tests.shared.flow_texts import LOUDER
from tools.json_types import FlowDocument

FAULT = Fault(code="c", message="m", fix="f")
RUN = RunResult(
    run_id="r",
    output=None,
    outputs={},
    metrics=RunMetrics(seconds=0.5, cost=0.25),
    error=RunError(code="wiring", message="m"),
    usage={"a": ModelUsage(cost=0.25)},
    faults=(FAULT,),
    files=(RunFile(path="a.txt", size=1, new=True),),
    untrusted_code=True,
    refused_calls=("io_uring_setup",),
    refused_call_counts={"io_uring_setup": 3},
    missing_protections=("system calls",),
    dropped_log_lines=7,
    hosts=(RunHost(host="api.example.com", port=443, sent=1, received=2),),
)


@pytest.mark.parametrize("name", NAMES)
def test_the_generated_files_are_current(name: str) -> None:
    assert [path.name for path in files()] == list(NAMES)
    assert (FOLDER / name).read_text(encoding="utf-8") == files()[FOLDER / name], "run: python -m scripts.contract"


def test_keys_that_may_be_absent_are_not_required_and_never_null() -> None:
    token = schema()["$defs"][TokenEvent.__name__]
    assert token["required"] == ["event", "chunk"]
    assert token["properties"]["turn_id"] == {"title": "Turn Id", "type": "string"}
    data = schema()["$defs"]["CompleteData"]
    assert "flow" in data["required"]
    assert "proposal" not in data["required"]
    assert schema()["$defs"][CompleteEvent.__name__]["properties"]["data"] == {"$ref": "#/$defs/CompleteData"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RunResult", RUN.to_json()),
        ("RunMetrics", RUN.metrics.to_json()),
        ("ModelUsage", RUN.usage["a"].to_json()),
        ("RunError", RUN.to_json()["error"]),
        ("RunHost", RUN.hosts[0].to_json()),
        ("Fault", FAULT.to_json()),
    ],
)
def test_a_payload_has_exactly_the_keys_of_its_schema(name: str, value: dict[str, object]) -> None:
    described = schema()["$defs"][name]
    assert set(described["properties"]) == set(value)
    assert set(described["required"]) == set(value) - {
        *("faults", "files", "untrusted_code", "refused_calls", "refused_call_counts", "dropped_log_lines", "hosts"),
        *("missing_protections", "cost"),
    }


def test_a_flow_has_the_shape_of_its_schema(catalogue: Catalogue) -> None:
    flow = build(LOUDER, catalogue).flow
    assert flow is not None
    shape = TypeAdapter(FlowDocument)
    assert shape.validate_python(flow.to_json()) == flow.raw
    assert shape.validate_python(flow.data) == flow.data
    data = schema()["$defs"]["CompleteData"]["properties"]
    found = [data["faults"]["items"]["$ref"], data["run"]["$ref"], data["proposal"]["$ref"]]
    assert found == ["#/$defs/Fault", "#/$defs/RunResult", "#/$defs/FlowDocument"]


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
