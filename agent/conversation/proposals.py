"""Proposals that live on: what was offered and not accepted yet stays open in the next turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, Field

from flows.actions import FlowAction, inverse
from flows.document import Flow, Node
from flows.edits import remove_component
from tools.json_types import FlowJson

KEPT = 3
"""How many proposals of a conversation are kept, the open one included."""


class Offer(BaseModel):
    """A proposal that was offered.

    Attributes:
        id: what answers name, unique within the conversation.
        turn: the turn that offered it.
        flow: the proposed flow.
        base: the ids of the nodes on the canvas at that time.
        open: whether it still waits for an answer; at most one does.
    """

    id: str
    turn: int
    flow: FlowJson
    base: list[str] = Field(default_factory=list[str])
    open: bool = True

    def is_part_of(self, canvas: Flow) -> bool:
        """Whether a canvas has as many components of each type as the proposal has."""
        return _types(self.flow) <= _types(canvas)


class Offers(BaseModel):
    """The proposals of a conversation that the user has not accepted, oldest first."""

    kept: list[Offer] = Field(default_factory=list[Offer])

    @property
    def open(self) -> Offer | None:
        """The one that still waits for an answer."""
        return next((offer for offer in self.kept if offer.open), None)

    def get(self, name: str) -> Offer | None:
        """The one with this id."""
        return next((offer for offer in self.kept if offer.id == name), None)

    def add(self, turn: int, flow: Flow, canvas: Flow) -> None:
        """Offer a flow; the one that was open can still be named.

        Args:
            turn: the number of the turn that offers it.
            flow: the proposed flow.
            canvas: the canvas at that time.
        """
        self.close()
        offer = Offer(id=offer_id(turn), turn=turn, flow=flow, base=[node.id for node in canvas.nodes])
        self.kept = [*(one for one in self.kept if one.id != offer.id), offer][-KEPT:]

    def close(self) -> None:
        """Set the open proposal aside; it can still be named."""
        self.kept = [one.model_copy(update={"open": False}) if one.open else one for one in self.kept]

    def drop(self, name: str) -> None:
        """Forget a proposal, because it was accepted."""
        self.kept = [one for one in self.kept if one.id != name]

    def forget_oldest(self) -> bool:
        """Forget the oldest proposal; returns whether there was one."""
        found = bool(self.kept)
        self.kept = self.kept[1:]
        return found

    def reconcile(self, canvas: Flow) -> tuple[int, Sequence[FlowAction]] | None:
        """Compare the open proposal with the canvas of the next request, because a client may accept it by itself.

        A proposal whose components have appeared on the canvas since was accepted. One that was made for another
        canvas (an empty one that is not empty any more, or one of which nothing is left) is set aside.

        Args:
            canvas: the canvas of the request.

        Returns:
            The turn that offered the accepted proposal and the changes that accepting it made, or None.
        """
        offer = self.open
        if offer is None:
            return None
        base = set(offer.base)
        added = [node for node in canvas.nodes if node.id not in base]
        wanted = Counter(node.type for node in offer.flow.nodes)
        if wanted and wanted <= Counter(node.type for node in added):
            self.drop(offer.id)
            return offer.turn, _additions(canvas, added)
        known = any(node.id in base for node in canvas.nodes)
        if (base and not known) or (not base and not canvas.is_empty):
            self.close()
        return None


def _types(flow: Flow) -> Counter[str]:
    return Counter(node.type for node in flow.nodes)


def offer_id(turn: int) -> str:
    """The id of the proposal that a turn offers."""
    return f"proposal-{turn}"


def _additions(canvas: Flow, added: Sequence[Node]) -> Sequence[FlowAction]:
    """The actions that added these nodes, as if they had come last."""
    removals: list[FlowAction] = []
    for node in added:
        edit = remove_component(canvas, node.id)
        removals += edit.actions
        canvas = edit.flow
    return [inverse(action) for action in reversed(removals)]
