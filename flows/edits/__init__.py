"""Edits of a flow: basic ones, and compound ones that consist of several."""

from __future__ import annotations

from flows.edits.basic import add_component, configure, connect, disconnect, remove_component
from flows.edits.compound import duplicate, insert_between, rename
from flows.edits.default_models import name_default_models
from flows.edits.replace import replace_component
from flows.edits.result import Edit, EditError

__all__ = [
    "Edit",
    "EditError",
    "add_component",
    "configure",
    "connect",
    "disconnect",
    "duplicate",
    "insert_between",
    "name_default_models",
    "remove_component",
    "rename",
    "replace_component",
]
