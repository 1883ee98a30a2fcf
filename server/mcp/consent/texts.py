"""Approving a text with other words: the form that asks about one text has it, for the user to change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from tools.approvals import Approval, EditApproval


def is_changeable(tool: str, arguments: Mapping[str, Any], question: Approval) -> bool:
    """Whether the text that a question asks about stands in the call's arguments, where another can take its place.

    Args:
        tool: the tool that was called.
        arguments: what it was given.
        question: what is asked.
    """
    if question.kind != "edit" or question.also or not isinstance(question.edit.new, str):
        return False
    return _with_text(tool, arguments, question) is not None


def with_text(question: Approval, text: object) -> Approval:
    """A question as the user approves it: with their own text, if they have written one.

    Args:
        question: what is asked about one text.
        text: what they have written.
    """
    if question.kind != "edit" or not isinstance(text, str) or not text.strip():
        return question
    return question.model_copy(update={"edit": replace(question.edit, new=text, also=())})


def with_approved_texts(tool: str, arguments: Mapping[str, Any], given: Iterable[Approval]) -> Mapping[str, Any]:
    """The arguments of a call with the texts that the user has approved.

    Args:
        tool: the tool that was called.
        arguments: what it was given.
        given: what the user has approved for the call.
    """
    for one in given:
        if one.kind == "edit" and is_changeable(tool, arguments, one):
            arguments = _with_text(tool, arguments, one) or arguments
    return arguments


def _with_text(tool: str, arguments: Mapping[str, Any], question: EditApproval) -> Mapping[str, Any] | None:
    """The arguments with a question's new text; None when they have no place for it."""
    field, text = question.edit.field, question.edit.new
    if tool == "configure_component":
        given: object = arguments.get("values")
        values = cast("dict[str, object]", given) if isinstance(given, dict) else {}
        if isinstance(values.get(field), str):
            return {**arguments, "values": {**values, field: text}}
    if tool == "update_flow_component_field" and arguments.get("field_name") == field:
        return {**arguments, "new_value": text} if isinstance(arguments.get("new_value"), str) else None
    return None
