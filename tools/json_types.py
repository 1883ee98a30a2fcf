"""Pydantic types for the plain dataclasses of flows and runs, which are read and written in their own JSON form.

The JSON schema of a flow is that of `FlowDocument`, of runs and faults that of their classes.
"""

from collections.abc import Callable
from typing import Annotated, Any, Required

from pydantic import ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from flows.action_json import action_from_json, action_to_json
from flows.actions import Configure, FlowAction
from flows.document import Flow
from flows.faults import Fault
from runtime.results import RunResult


class SchemaOf:
    """Gives the annotated type the JSON schema of another type.

    Args:
        shape: the other type.
    """

    def __init__(self, shape: Any) -> None:
        self._shape = shape

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(core_schema.definitions_schema(TypeAdapter(self._shape).core_schema, []))  # a reference by name


class JsonForm(SchemaOf):
    """Lets pydantic read and write the annotated class in its own JSON form; instances are accepted as they are.

    Args:
        read: makes an instance from its JSON.
        write: returns the JSON of an instance.
        shape: a type with the schema of that JSON.
    """

    def __init__(self, read: Callable[[Any], Any], write: Callable[[Any], Any], shape: Any = dict[str, Any]) -> None:
        super().__init__(shape)
        self._read = read
        self._write = write

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def validate(value: Any) -> Any:
            found = value if isinstance(value, source) else self._read(value)
            if not isinstance(found, source):
                raise ValueError(f"not a {source}")
            return found

        written = core_schema.plain_serializer_function_ser_schema(self._write)
        return core_schema.no_info_plain_validator_function(validate, serialization=written)


_ANY_KEYS = ConfigDict(extra="allow")


class NodeDocument(TypedDict, total=False):
    """A node as Langflow stores it: the component's type and definition are in `data`, under `type` and `node`.

    Attributes:
        id: the id that edges refer to; old documents have it in `data` only.
        type: how the canvas draws it: `genericNode`, or `noteNode` for a note.
        position: where it stands on the canvas: `x` and `y` in pixels.
    """

    __pydantic_config__ = _ANY_KEYS  # pyright: ignore[reportGeneralTypeIssues]  (where pydantic looks for it)
    id: str
    type: str
    position: dict[str, float]
    data: dict[str, Any]


class EdgeDocument(TypedDict, total=False):
    """An edge as Langflow stores it: `source` and `target` are node ids, and `data` has both handles as objects.

    Attributes:
        sourceHandle: the output that it leaves, as text.
        targetHandle: the field that it enters, as text.
    """

    __pydantic_config__ = _ANY_KEYS  # pyright: ignore[reportGeneralTypeIssues]  (where pydantic looks for it)
    id: str
    source: Required[str]
    target: Required[str]
    sourceHandle: str
    targetHandle: str
    data: dict[str, Any]


class FlowData(TypedDict, total=False):
    """What is on the canvas; `viewport` is the part of it that is in view."""

    __pydantic_config__ = _ANY_KEYS  # pyright: ignore[reportGeneralTypeIssues]  (where pydantic looks for it)
    nodes: Required[list[NodeDocument]]
    edges: list[EdgeDocument]
    viewport: dict[str, float]


class FlowDocument(TypedDict, total=False):
    """A flow as Langflow exports it, or bare `nodes` and `edges` where they were sent so; other keys are kept."""

    __pydantic_config__ = _ANY_KEYS  # pyright: ignore[reportGeneralTypeIssues]  (where pydantic looks for it)
    name: str
    description: str
    data: FlowData
    nodes: list[NodeDocument]
    edges: list[EdgeDocument]


FlowJson = Annotated[Flow, JsonForm(Flow.from_json, lambda flow: flow.raw, FlowDocument)]
FlowObject = Annotated[dict[str, Any], SchemaOf(FlowDocument)]
NodeObject = Annotated[dict[str, Any], SchemaOf(NodeDocument)]
EdgeObject = Annotated[dict[str, Any], SchemaOf(EdgeDocument)]
ActionJson = Annotated[FlowAction, JsonForm(action_from_json, action_to_json)]
ConfigureJson = Annotated[Configure, JsonForm(action_from_json, action_to_json)]
RunJson = Annotated[RunResult, JsonForm(RunResult.from_json, RunResult.to_json, RunResult)]
FaultJson = Annotated[Fault, JsonForm(lambda fault: Fault(**fault), Fault.to_json, Fault)]
