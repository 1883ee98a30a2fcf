"""The inputs of a batch in requests that a server takes: one that is too large for one of them comes in parts."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

from cli.errors import BadUsage
from cli.jobs.inputs import WHERE
from server.limits.settings import CHAT_BODY_BYTES
from server.routes.jobs.batches import INPUTS, BatchRequest

ROOM = CHAT_BODY_BYTES - 100_000
"""How many bytes of inputs a request has at most, beside which it has its options."""


class BatchParts:
    """The parts of a batch, one after the other.

    Where a server takes less than one usually does, as its operator or a proxy in front of it may have set up, the next
    part is made smaller. A part that is sent again is the same inputs at the same positions, which the server has once.

    Args:
        request: asks for the batch, with all of its inputs, and its id.
        source: the file of the inputs.
    """

    def __init__(self, request: BatchRequest, source: Path) -> None:
        self._request = request
        self._source = source
        self._sizes = [
            len(one.model_dump_json(exclude_none=True).encode("utf-8", "surrogatepass")) + 1 for one in request.inputs
        ]
        self._room = ROOM
        self._most = INPUTS
        self._at = 0

    @property
    def total(self) -> int:
        """How many inputs there are."""
        return len(self._sizes)

    @property
    def are_sent(self) -> bool:
        """Whether the server has all of them."""
        return self._at >= self.total

    @property
    def is_one(self) -> bool:
        """Whether it is likely that one request carries them all."""
        return self._count == self.total

    @property
    def next(self) -> BatchRequest:
        """Asks for the next part."""
        return self._part(self._at, self._count)

    @property
    def largest(self) -> BatchRequest:
        """Asks for an estimate, with the largest input alone: a server that takes it takes each of them."""
        at = max(range(self.total), key=self._sizes.__getitem__)
        return self._part(at, 1).model_copy(update={"estimate": True})

    @property
    def refused(self) -> BadUsage:
        """The error for a server that takes no parts."""
        message = f"The server takes no batch in parts, and the {self.total:,} inputs of {self._source} are too large."
        fix = f"Update the server, or split the file: split -l {max(1, self._at)} {self._source}"
        return BadUsage("too_large", message, fix=fix, where=WHERE)

    def taken(self) -> None:
        """Note that the server has the next part."""
        self._at += self._count
        self._most = min(INPUTS, 2 * self._most)

    def too_large(self, part: BatchRequest) -> None:
        """Note that a part is too large for the server.

        Raises:
            BadUsage: it is a single input.
        """
        if len(part.inputs) == 1:
            at, size = part.first, self._sizes[part.first]
            message = f"Input {at + 1} of {self._source} is {size:,} bytes, more than the server takes in a request."
            fix = "Shorten it, or ask the operator for a higher WIREWRIGHT_CHAT_BODY_LIMIT, or limit of the proxy."
            raise BadUsage("too_large", message, fix=fix, where=WHERE)
        self._room = sum(self._sizes[part.first : part.first + len(part.inputs)]) // 2

    def too_many(self, part: BatchRequest) -> bool:
        """Note that fewer jobs may wait at the server than a part would add; returns whether a smaller one is left."""
        self._most = max(1, len(part.inputs) // 2)
        return len(part.inputs) > 1

    @property
    def _count(self) -> int:
        """How many inputs the next part has: as many as fit, and one at least."""
        sizes = self._sizes[self._at : self._at + self._most]
        return max(1, sum(size <= self._room for size in accumulate(sizes)))

    def _part(self, at: int, count: int) -> BatchRequest:
        if count == self.total:
            return self._request
        inputs = self._request.inputs[at : at + count]
        return self._request.model_copy(update={"inputs": inputs, "first": at, "total": self.total})
