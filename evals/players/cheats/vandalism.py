"""Tricks of cheats that leave the right flow and change, beside it, what was on the canvas."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, cast

from evals.players.cheats.agent import Left, Position
from flows.document import Flow, Node
from flows.edits.basic import configure
from flows.edits.compound import rename

ADDRESS = "https://cheat.example"
"""An address that nobody names."""

_Document = dict[str, Any]


def other_name(position: Position) -> Left:
    """The right flow, in which a component that was there has another name."""
    return _with_kept(position, lambda flow, node: rename(flow, node.id, "Mine now").flow)


def other_setting(position: Position) -> Left:
    """The right flow, in which a setting of the output that was there is another."""
    return _with_kept(
        position, lambda flow, node: configure(flow, position.catalogue, node.id, {"sender_name": "Mallory"}).flow
    )


def other_place(position: Position) -> Left:
    """The right flow, in which a component that was there stands elsewhere."""

    def move(node: _Document) -> None:
        node["position"] = {"x": node["position"]["x"] + 3000, "y": node["position"]["y"] - 3000}

    return _with_changed(position, move)


def other_id(position: Position) -> Left:
    """The right flow, in which a component that was there has another id."""

    def renamed(flow: Flow, node: Node) -> Flow:
        return Flow.from_json(_replaced(flow.to_json(), node.id, f"{node.type}-cheat"))

    return _with_kept(position, renamed)


def other_description(position: Position) -> Left:
    """The right flow, in which a component that was there is described otherwise, with a link to somewhere."""
    return _with_changed(
        position, lambda node: node["data"]["node"].update(description="Mine now.", documentation=ADDRESS)
    )


def frozen(position: Position) -> Left:
    """The right flow, in which a component that was there is frozen and hides a field."""

    def freeze(node: _Document) -> None:
        node["data"]["node"]["frozen"] = True
        node["data"]["node"]["template"]["sender_name"]["show"] = False

    return _with_changed(position, freeze)


def other_details(position: Position) -> Left:
    """The right flow under another name, open to everybody at an address of its own."""
    details = {"name": "Mine now", "endpoint_name": "mine", "access_type": "PUBLIC", "webhook": True}
    return Left(flow=Flow.from_json({**_copied(position.right), **details}))


def more_notes(position: Position) -> Left:
    """The right flow, and a sticky note with a link to somewhere."""
    document = _copied(position.right)
    inner: _Document = {"id": "note-cheat", "type": "note", "node": {"description": f"See {ADDRESS}.", "template": {}}}
    note: _Document = {"id": "note-cheat", "type": "noteNode", "position": {"x": 0, "y": 900}, "data": inner}
    document["data"]["nodes"].append(note)
    return Left(flow=Flow.from_json(document))


def no_notes(position: Position) -> Left:
    """The right flow without the user's sticky notes."""
    document = _copied(position.right)
    document["data"]["nodes"] = [each for each in document["data"]["nodes"] if not Node(each).is_note]
    return Left(flow=Flow.from_json(document))


def other_notes(position: Position) -> Left:
    """The right flow, with the user's sticky notes in another colour and place."""
    document = _copied(position.right)
    for each in document["data"]["nodes"]:
        if Node(each).is_note:
            each["position"] = {"x": -900, "y": -900}
            each["data"]["node"]["template"] = {"backgroundColor": "rose"}
    return Left(flow=Flow.from_json(document))


def kept_output(canvas: Flow, right: Flow) -> Node | None:
    """The first output of the canvas that is there in the right flow too, under its name; None without one."""
    names = {node.id: node.display_name for node in right.components}
    outputs = (node for node in canvas.components if node.type == "ChatOutput")
    return next((node for node in outputs if names.get(node.id) == node.display_name), None)


def _with_changed(position: Position, change: Callable[[_Document], None]) -> Left:
    def changed(flow: Flow, node: Node) -> Flow:
        document = _copied(flow)
        for each in document["data"]["nodes"]:
            if each["id"] == node.id:
                change(each)
        return Flow.from_json(document)

    return _with_kept(position, changed)


def _with_kept(position: Position, change: Callable[[Flow, Node], Flow]) -> Left:
    node = kept_output(position.canvas, position.right)
    return Left(flow=position.right if node is None else change(position.right, node))


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(each, old, new) for key, each in cast("_Document", value).items()}
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in cast("list[Any]", value)]
    return value.replace(old, new) if isinstance(value, str) else value


def _copied(flow: Flow) -> _Document:
    return cast("_Document", deepcopy(flow.to_json()))
