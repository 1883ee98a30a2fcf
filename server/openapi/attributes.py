"""Descriptions of fields, from the `Attributes:` sections of the docstrings of their models."""

from __future__ import annotations

import re
from typing import Any

_ENTRY = re.compile(r"^ {4}([a-z_][\w, ]*): (.*)$")


def with_attributes(schema: dict[str, Any]) -> dict[str, Any]:
    """A model's schema whose properties say what its docstring says of them.

    Args:
        schema: the schema of one model; others are returned as they are.
    """
    text, _, listed = schema.get("description", "").partition("\n\nAttributes:\n")
    properties: dict[str, Any] = schema.get("properties", {})
    if not listed or not properties:
        return schema
    told, named = dict[str, str](), list[str]()
    for line in listed.splitlines():
        entry = _ENTRY.match(line)
        if entry is not None:
            named = [name.strip() for name in entry[1].split(",")]
            told.update(dict.fromkeys(named, entry[2]))
        elif line.strip():
            told.update({name: f"{told[name]} {line.strip()}" for name in named})
    described = {
        name: {**one, "description": told[name].replace("\\", "")} if name in told else one
        for name, one in properties.items()
    }
    return {**schema, "description": text, "properties": described}
