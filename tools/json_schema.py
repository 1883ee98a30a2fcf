"""Pydantic's view of the plain dataclasses below: read and written by their own JSON form."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from flows.action_json import action_from_json, action_to_json
from flows.actions import Configure, FlowAction
from flows.document import Flow
from flows.faults import Fault
from runtime.results import RunResult


class JsonForm:
    """Lets pydantic read and write a value by its own JSON form, without looking inside its class.

    Args:
        read: makes the value from its JSON, or passes it through.
        write: gives its JSON.
    """

    def __init__(self, read: Callable[[Any], Any], write: Callable[[Any], Any]) -> None:
        self._read = read
        self._write = write

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(self._write)
        return core_schema.no_info_plain_validator_function(self._read, serialization=written)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "object"}


def _as_flow(value: Any) -> Flow:
    return value if isinstance(value, Flow) else Flow.from_json(value)


def _as_action(value: Any) -> FlowAction:
    return action_from_json(value) if isinstance(value, dict) else value  # pyright: ignore[reportUnknownArgumentType]  (whatever was received)


def _as_configure(value: Any) -> Configure:
    action = _as_action(value)
    if not isinstance(action, Configure):
        raise ValueError("The action is no configure.")
    return action


def _as_run(value: Any) -> RunResult:
    return value if isinstance(value, RunResult) else RunResult.from_json(value)


def _as_fault(value: Any) -> Fault:
    return value if isinstance(value, Fault) else Fault(**value)


FlowJson = Annotated[Flow, JsonForm(_as_flow, lambda flow: flow.raw)]
ActionJson = Annotated[FlowAction, JsonForm(_as_action, action_to_json)]
ConfigureJson = Annotated[Configure, JsonForm(_as_configure, action_to_json)]
RunJson = Annotated[RunResult, JsonForm(_as_run, RunResult.to_json)]
FaultJson = Annotated[Fault, JsonForm(_as_fault, Fault.to_json)]
