"""A turn's canvas step by step: its actions, replayed, as drawings with changes marked."""

from __future__ import annotations

from dataclasses import dataclass

from agent.turn.result import TurnResult
from evals.report.clipping import line
from evals.report.svg.canvas import Gallery, Mark, Marks, Picture
from evals.report.svg.layout import Board, ScoredFlows, components, wires
from flows.actions import Arrange, SetDetail, StaleAction, apply
from flows.catalogue import Catalogue
from flows.describe.actions import describe_action
from flows.document import Flow


@dataclass(frozen=True)
class ReplayStep:
    """One state of the canvas."""

    title: str
    picture: Picture


@dataclass(frozen=True)
class Replay:
    """The states of a turn's canvas.

    Attributes:
        steps: in order; empty if the canvas was empty and stayed empty.
        notice: what is left out, and why.
    """

    steps: tuple[ReplayStep, ...]
    notice: str = ""


def replay_turn(turn: TurnResult, gallery: Gallery, catalogue: Catalogue, maximum: int) -> Replay:
    """Replay a turn."""
    shapes = ScoredFlows(catalogue)
    states: list[tuple[str, Flow]] = [("Before", turn.before)]
    notice = ""
    for action in turn.actions:
        try:
            flow = apply(states[-1][1], action)
        except StaleAction:
            notice = "One of the recorded changes does not fit the canvas before it; from there the end is shown."
            break
        if not isinstance(action, Arrange | SetDetail):
            states.append((line(describe_action(action, flow), 160), flow))
        else:
            states[-1] = (states[-1][0], flow)
    if not _alike(states[-1][1], turn.after, shapes):
        states.append(("After", turn.after))
    if turn.proposal is not None and not _alike(states[-1][1], turn.proposal, shapes):
        states.append(("Proposed", turn.proposal))
    if len(states) > maximum:
        notice = f"{len(states) - maximum} steps in the middle are left out. {notice}".strip()
        states = [*states[: maximum // 2], *states[maximum // 2 - maximum :]]
    if len(states) > 1 and not components(states[0][1]):
        states = states[1:]  # an empty canvas shows nothing
    elif len(states) == 1:
        if not components(states[0][1]):
            return Replay((), notice)
        states = [("As it was", states[0][1])]
    board = Board.of([flow for _, flow in states], shapes)
    steps: list[ReplayStep] = []
    before: Flow | None = None
    for title, flow in states:
        shown, marks = (flow, Marks()) if before is None else mark_changes(before, flow, shapes)
        steps.append(ReplayStep(title, gallery.picture(shown, board, shapes, marks)))
        before = flow
    return Replay(tuple(steps), notice)


def mark_changes(before: Flow, after: Flow, shapes: ScoredFlows) -> tuple[Flow, Marks]:
    """The new state with changes marked; what was removed stays in it, marked as removed."""
    old, new = components(before), components(after)
    old_wires, new_wires = wires(before), wires(after)
    nodes: dict[str, Mark] = dict.fromkeys(new.keys() - old.keys(), "added")
    fields: dict[str, frozenset[str]] = {}
    earlier = {node.id: node for node in shapes.of(before).nodes}
    for node in shapes.of(after).nodes:
        was = earlier.get(node.id)
        if was is None:
            continue
        changed = {name for name, _ in node.values.items() ^ was.values.items()}
        if changed or node.name != was.name or new[node.id].tool_mode != old[node.id].tool_mode:
            nodes[node.id] = "changed"
            fields[node.id] = frozenset(changed)
    removed = [old[node_id] for node_id in old if node_id not in new]
    nodes.update({node.id: "removed" for node in removed})
    lost = {wire: edge for wire, edge in old_wires.items() if wire not in new_wires}
    marks: dict[tuple[str, str, str, str], Mark] = dict.fromkeys(new_wires.keys() - old_wires.keys(), "added")
    marks.update(dict.fromkeys(lost, "removed"))
    drawn = after.with_parts(
        nodes=[*(node.raw for node in after.nodes), *(node.raw for node in removed)],
        edges=[*(edge.raw for edge in after.edges), *(edge.raw for edge in lost.values())],
    )
    return drawn, Marks(nodes, marks, fields)


def _alike(left: Flow, right: Flow, shapes: ScoredFlows) -> bool:
    """Whether the drawings of two flows would be equal."""
    one, other = shapes.of(left), shapes.of(right)
    return one.edges == other.edges and {node.id: node for node in one.nodes} == {node.id: node for node in other.nodes}
