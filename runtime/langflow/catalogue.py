"""The component types of a Langflow server, read as a catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Json
from flows.json_values import as_object, copy_json

NO_CATEGORIES = frozenset({"component_display_names"})
"""What stands beside the categories."""


def read_catalogue(answer: Mapping[str, object], version: str) -> Catalogue:
    """A catalogue from what `/api/v1/all` answers: types by category.

    Args:
        answer: the answer.
        version: the version of the server.

    Raises:
        ValueError: it has no component types.
    """
    found: dict[str, ComponentType] = {}
    for category, types in answer.items():
        if category in NO_CATEGORIES or not isinstance(types, dict):
            continue
        for name, definition in as_object(copy_json(cast("object", types))).items():
            if isinstance(definition, dict) and isinstance(definition.get("template"), dict):
                own: dict[str, Json] = {"category": category, **definition}
                found.setdefault(name, ComponentType(name, own))
    if not found:
        raise ValueError("no component types")
    return Catalogue(found, version=version)
