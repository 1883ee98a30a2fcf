"""Settling a turn: decides, as a pure function, what happens to a proposal when the turn ends."""

from dataclasses import dataclass
from typing import Literal

from flows.document import Flow
from flows.merge import merge


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """What happens to a proposal.

    Attributes:
        kind: `applied` to the canvas, `offered` for the user to accept, or `none` if there was none.
        canvas: the canvas afterwards.
        proposal: the offered flow.
    """

    kind: Literal["none", "applied", "offered"]
    canvas: Flow
    proposal: Flow | None = None


def settle(canvas: Flow, proposal: Flow | None, *, agreed: bool) -> Settlement:
    """Decide about a proposal.

    A proposal that was run for the user this turn is applied, because users should see what they run, and so is one
    that they said yes to: it fills an empty canvas, or is placed beside the existing flow. Any other is offered.

    Args:
        canvas: the current canvas.
        proposal: the flow that was built this turn, if any.
        agreed: whether the proposal was run for the user, or they said yes to it.
    """
    if proposal is None:
        return Settlement(kind="none", canvas=canvas)
    if not agreed:
        return Settlement(kind="offered", canvas=canvas, proposal=proposal)
    return Settlement(kind="applied", canvas=proposal if canvas.is_empty else merge(canvas, proposal).flow)
