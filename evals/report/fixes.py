"""The smallest fix of a failed attempt for a report: its changes in words, and the resulting canvas."""

from __future__ import annotations

import json
from dataclasses import dataclass

from evals.attempt import Attempt
from evals.fix.records import Fix
from evals.report.clipping import line
from evals.report.svg.canvas import Gallery, Mark, Picture
from evals.report.svg.comparison import Difference
from evals.report.svg.layout import Board, ScoredFlows
from evals.report.svg.replay import mark_changes
from flows.actions import Configure, FlowAction, StaleAction, apply
from flows.catalogue import Catalogue
from flows.describe.actions import describe_action
from flows.document import Flow
from flows.fields.secrets import REDACTED, is_secret
from flows.json_values import Json, Missing, as_object

_MARKS: dict[str, Mark] = {
    "add_component": "added",
    "connect": "added",
    "remove_component": "removed",
    "disconnect": "removed",
}


@dataclass(frozen=True, kw_only=True)
class SmallestFix:
    """The smallest fix of an attempt.

    Attributes:
        whole: how many changes lead all the way to the reference flow.
        proven: whether every smaller set of changes was tried.
        fits: whether the changes fit the flow of this attempt; they do not if it was played again.
        picture: the canvas with the changes marked; None without details.
    """

    changes: tuple[Difference, ...]
    whole: int
    tries: int
    proven: bool
    fits: bool = True
    picture: Picture | None = None


def smallest_fix(fix: Fix, attempt: Attempt, catalogue: Catalogue, gallery: Gallery | None) -> SmallestFix:
    """Describe a fix.

    Args:
        gallery: collects the drawings; None draws nothing.
    """
    made = attempt.flow or Flow.empty()
    flow, fits = made, True
    changes: list[Difference] = []
    for action in fix.actions:
        before = flow
        try:
            flow = apply(flow, action)
        except StaleAction:
            changes, fits = [], False
            break
        changes.append(Difference(_MARKS.get(action.kind, "changed"), _in_words(action, before, flow)))
    return SmallestFix(
        changes=tuple(changes),
        whole=fix.whole,
        tries=fix.tries,
        proven=fix.proven,
        fits=fits,
        picture=_picture(made, flow, catalogue, gallery) if fits and gallery is not None else None,
    )


def _picture(made: Flow, fixed: Flow, catalogue: Catalogue, gallery: Gallery) -> Picture:
    shapes = ScoredFlows(catalogue)
    shown, marks = mark_changes(made, fixed, shapes)
    return gallery.picture(shown, Board.of([made, fixed], shapes), shapes, marks)


def _in_words(action: FlowAction, before: Flow, after: Flow) -> str:
    words = line(describe_action(action, after), 160)
    if not isinstance(action, Configure):
        return words
    node = after.node(action.node) or before.node(action.node)
    if node is not None and is_secret(as_object(node.field(action.field))):
        return f"{words} to {REDACTED}"
    return f"{words} to {_value(action.new)}, from {_value(action.old)}"


def _value(value: Json | Missing) -> str:
    if isinstance(value, Missing):
        return "nothing"
    return line(f"“{value}”" if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 300)
