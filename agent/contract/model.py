"""What the models of the contract have in common."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

LATER: Final = ConfigDict(defer_build=True)
"""Has a schema built when it is first used: a turn uses few of them, and a start should not wait for all."""


class ContractModel(BaseModel):
    """A JSON object of the contract. Keys that it does not name are ignored when it is read."""

    model_config = ConfigDict(extra="ignore", defer_build=True)


class Received(ContractModel):
    """A JSON object that clients receive. Every key is there, except for `optional` ones, which are never null."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema as clients see it: optional keys are absent, not null."""
        schema = handler(core_schema)
        described = handler.resolve_ref_schema(schema)
        for name, field in cls.model_fields.items():
            entry: dict[str, Any] = described["properties"][field.serialization_alias or name]
            if field.exclude_if is not None and field.default is None:
                kept = [choice for choice in entry.pop("anyOf", []) if choice != {"type": "null"}]
                entry.update(kept[0] if len(kept) == 1 else {"anyOf": kept} if kept else {})
        return schema


class Page(Received):
    """A page of a list; its entries are beside this, under the name of the list.

    Attributes:
        total: how many entries the whole list has.
        limit: how many a page has at most.
        offset: how many come before this page.
        next: the address of the next page; null for the last one.
    """

    total: int
    limit: int
    offset: int
    next: str | None


def optional() -> Any:
    """A field whose key is left out of the JSON while it is None."""
    return Field(default=None, exclude_if=_is_none)


def _is_none(value: object) -> bool:
    return value is None
