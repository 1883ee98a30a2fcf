"""Drawing flows as SVG: components with their ports and values, typed wires, and marks for what changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from evals.report.clipping import line
from evals.report.svg.layout import HEAD, ROW, WIDTH, Board, Rows, ScoredFlows, Wire, components, wires
from flows.document import Flow, Node
from flows.fields.secrets import shown_value
from flows.json_values import Json, as_object, as_text

Mark = Literal["added", "removed", "changed"]

_KINDS = {
    "message": "message",
    "text": "message",
    "data": "data",
    "json": "data",
    "dataframe": "table",
    "table": "table",
    "languagemodel": "model",
    "tool": "tool",
    "embeddings": "vector",
}
_TITLE, _TYPE, _NAME, _VALUE = 25, 30, 26, 19


@dataclass(frozen=True)
class Marks:
    """The highlights of a drawing.

    Attributes:
        fields: names of fields whose values are highlighted, by component.
    """

    nodes: Mapping[str, Mark] = field(default_factory=dict[str, Mark])
    wires: Mapping[Wire, Mark] = field(default_factory=dict[Wire, Mark])
    fields: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


@dataclass(frozen=True)
class Picture:
    """A drawing that a page refers to.

    Attributes:
        label: a description in words.
    """

    id: str
    width: int
    height: int
    label: str
    empty: bool = False


class Gallery:
    """All drawings of a page; equal drawings, and equal components of different ones, are stored once."""

    def __init__(self) -> None:
        self._symbols: dict[str, Markup] = {}

    @property
    def symbols(self) -> Markup:
        """The definitions that pictures refer to."""
        return Markup("\n").join(self._symbols[name] for name in sorted(self._symbols))

    def picture(self, flow: Flow, board: Board, shapes: ScoredFlows, marks: Marks | None = None) -> Picture:
        """Draw one state of a flow."""
        marks = marks or Marks()
        scored = {node.id: node for node in shapes.of(flow).nodes}
        drawn: list[Markup] = [
            Markup('<path class="w {} {}" d="{}"/>').format(
                _kind(board.rows[wire[0]].outputs.get(wire[1], "")),
                f"{marks.wires.get(wire, '')}{' feedback' if edge.is_feedback else ''}",
                _path(board, wire, feedback=edge.is_feedback),
            )
            for wire, edge in wires(flow).items()
        ]
        for node_id, node in components(flow).items():
            rows = board.rows[node_id]
            values = {name: line(_shown(node, name), _VALUE) for name in scored[node_id].values}
            loud = marks.fields.get(node_id, frozenset())
            name = self._kept("n", _node(node, rows, values, loud))
            x, y = board.places[node_id]
            mark = marks.nodes.get(node_id)
            drawn.append(
                Markup('<use href="#{}" x="{}" y="{}"{}/>').format(
                    name, x, y, Markup(' class="{}"').format(mark) if mark else ""
                )
            )
            if mark:
                drawn.append(Markup('<use href="#mark-{}" x="{}" y="{}"/>').format(mark, x + WIDTH, y))
        body = Markup("").join(drawn)
        name = self._kept("c", body, f"0 0 {board.width} {board.height}")
        return Picture(name, board.width, board.height, _label(flow), empty=not components(flow))

    def _kept(self, prefix: str, body: Markup, box: str = "") -> str:
        digest = hashlib.blake2b(f"{box}|{body}".encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()
        name = f"{prefix}{digest}"
        if name not in self._symbols:
            if box:
                self._symbols[name] = Markup('<symbol id="{}" viewBox="{}">{}</symbol>').format(name, box, body)
            else:
                self._symbols[name] = Markup('<g id="{}">{}</g>').format(name, body)
        return name


def _node(node: Node, rows: Rows, values: Mapping[str, str], loud: frozenset[str]) -> Markup:
    drawn = [
        Markup('<rect class="n" width="{}" height="{}" rx="9"/>').format(WIDTH, rows.height),
        Markup('<text class="nt" x="12" y="16">{}</text>').format(line(node.display_name, _TITLE)),
        Markup('<text class="nk" x="12" y="29">{}</text>').format(line(node.type, _TYPE)),
    ]
    y = HEAD + 12
    for name in rows.inputs:
        drawn.append(Markup('<text x="12" y="{}">{}</text>').format(y, line(name, _NAME)))
        drawn.append(Markup('<circle class="p" cx="0" cy="{}" r="4"/>').format(y - 4))
        y += ROW
    for name in rows.values:
        said = values.get(name)
        drawn.append(
            Markup('<text class="v{}" x="12" y="{}"><tspan class="f">{}</tspan> {}</text>').format(
                " loud" if name in loud else "", y, line(name, 12), "default" if said is None else said or "(empty)"
            )
        )
        y += ROW
    if rows.hidden:
        drawn.append(Markup('<text class="nk" x="12" y="{}">{} more values</text>').format(y, rows.hidden))
        y += ROW
    for name, kind in rows.outputs.items():
        drawn.append(
            Markup('<text class="o" x="{}" y="{}">{}</text><circle class="p {}" cx="{}" cy="{}" r="4"/>').format(
                WIDTH - 12, y, line(name, _NAME), _kind(kind), WIDTH, y - 4
            )
        )
        y += ROW
    return Markup("").join(drawn)


def _path(board: Board, wire: Wire, *, feedback: bool) -> str:
    (x1, y1), (x2, y2) = board.output_point(wire[0], wire[1]), board.input_point(wire[2], wire[3])
    if feedback:
        return f"M{x1} {y1}C{x1 + 70} {y1} {x2 + 70} {y2} {x2} {y2}"
    bend = max(34, abs(x2 - x1) // 2)
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"


def _kind(name: str) -> str:
    return _KINDS.get(name.casefold(), "other")


def _shown(node: Node, name: str) -> str:
    value: Json = shown_value(as_object(node.field(name)))
    if isinstance(value, str):
        return value
    named = [as_text(as_object(item).get("name")) for item in value] if isinstance(value, list) else []
    if named and all(named):
        return ", ".join(named)
    return json.dumps(value, ensure_ascii=False)


def _label(flow: Flow) -> str:
    nodes = components(flow)
    if not nodes:
        return "an empty canvas"
    names = ", ".join(line(node.display_name, 40) for node in list(nodes.values())[:12])
    more = f" and {len(nodes) - 12} more" if len(nodes) > 12 else ""
    return f"{len(nodes)} components, {len(wires(flow))} connections: {names}{more}"
