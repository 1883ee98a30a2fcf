"""Settling a turn: what becomes of a proposal when the turn ends, as a pure function."""

from dataclasses import dataclass
from typing import Literal

from flows.document import Flow
from flows.merge import merge


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """What becomes of a proposal.

    Attributes:
        kind: `applied` to the canvas, `offered` for the user to accept, or `none` when nothing was proposed.
        canvas: the canvas afterwards.
        proposal: what is offered.
    """

    kind: Literal["none", "applied", "offered"]
    canvas: Flow
    proposal: Flow | None = None


def settle(canvas: Flow, proposal: Flow | None, *, ran: bool) -> Settlement:
    """Decide about a proposal.

    A proposal that was run for the user this turn is applied, because running a flow that nobody sees is a
    contradiction: it becomes an empty canvas, and is placed beside what a filled one holds. Any other is offered.

    Args:
        canvas: the canvas now.
        proposal: the flow that was built this turn, if any.
        ran: whether the proposal, as it stands, was run for the user.
    """
    if proposal is None:
        return Settlement(kind="none", canvas=canvas)
    if not ran:
        return Settlement(kind="offered", canvas=canvas, proposal=proposal)
    return Settlement(kind="applied", canvas=proposal if canvas.is_empty else merge(canvas, proposal).flow)
