"""What is known of a key that was used before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["running", "answered", "streamed", "not_kept"]
"""What became of a request: it runs, or has an answer, which was a stream, or was too large to be kept."""


@dataclass(frozen=True)
class KnownKey:
    """A key that was used before.

    Attributes:
        state: what became of its request.
        fingerprint: the digest of that request; empty while it runs.
        answer: the answer as text; for a stream, the id of what was begun.
    """

    state: State
    fingerprint: str
    answer: str
