"""Pydantic types for the plain dataclasses of flows and runs, which are read and written in their own JSON form."""

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
    """Lets pydantic read and write the annotated class in its own JSON form; instances are accepted as they are.

    Args:
        read: makes an instance from its JSON.
        write: returns the JSON of an instance.
    """

    def __init__(self, read: Callable[[Any], Any], write: Callable[[Any], Any]) -> None:
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

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "object"}


FlowJson = Annotated[Flow, JsonForm(Flow.from_json, lambda flow: flow.raw)]
ActionJson = Annotated[FlowAction, JsonForm(action_from_json, action_to_json)]
ConfigureJson = Annotated[Configure, JsonForm(action_from_json, action_to_json)]
RunJson = Annotated[RunResult, JsonForm(RunResult.from_json, RunResult.to_json)]
FaultJson = Annotated[Fault, JsonForm(lambda fault: Fault(**fault), Fault.to_json)]
