"""What a list of sessions shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from flows.document import JsonObject


@dataclass(frozen=True, kw_only=True)
class SessionEntry:
    """A session of a flow, without its messages.

    Attributes:
        session: its id.
        messages: how many messages it has.
        bytes: how much they take.
        updated_at: when it was last written, ISO 8601 in UTC.
    """

    session: str
    messages: int
    bytes: int
    updated_at: str

    def to_json(self) -> JsonObject:
        """The entry as a JSON object."""
        return asdict(self)
