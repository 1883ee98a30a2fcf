"""The messages of a session, and what a run made of them, read from an engine that may lie."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from flows.document import Json, JsonObject
from flows.fields.keys import without_keys
from flows.json_values import as_list, as_object, as_text
from runtime.telemetry import log_event

MAX_TEXT: Final = 100_000
"""Characters of one message; the rest is cut off."""
MAX_NAME: Final = 200
"""Characters of a sender, a sender's name and a context id."""
MAX_STORED: Final = 500
"""How many messages one run may store or change; the last ones count."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})? UTC")


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message as it is kept: plain text of whatever origin, never instructions.

    Attributes:
        id: its id, which the store has given it.
        sender: whose it is: `User`, `Machine`, or what a component wrote.
        sender_name: the name to show.
        text: what it says, without keys that someone typed.
        context: the context id, which divides a session further; mostly empty.
        timestamp: when it was written, in UTC, as Langflow writes it: `2026-01-31 12:00:00.000000 UTC`.
    """

    id: str
    sender: str
    sender_name: str
    text: str
    context: str = ""
    timestamp: str = ""

    @property
    def size(self) -> int:
        """Bytes that it counts for."""
        return len(self.text.encode()) + len(self.sender_name.encode()) + len(self.context.encode())

    def to_json(self) -> JsonObject:
        """The message as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class MessageChanges:
    """What a run made of the messages of its session.

    Attributes:
        added: new messages, in order.
        changed: messages that it was given, with other texts or senders.
        deleted: ids of messages that it was given and deleted.
    """

    added: tuple[Message, ...] = ()
    changed: tuple[Message, ...] = ()
    deleted: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether there is anything to keep."""
        return bool(self.added or self.changed or self.deleted)


def read_changes(reported: Json, given: Collection[Message]) -> MessageChanges:
    """Read what an engine, whose code may be hostile, reports about the messages of a session; drop what does not fit.

    Only messages in `given` can be changed or deleted; every other one is new, and gets an id here.
    """
    if not isinstance(reported, dict):
        return MessageChanges()
    known = {each.id for each in given}
    entries = as_list(reported.get("stored"))
    added, changed, refused = list[Message](), dict[str, Message](), max(len(entries) - MAX_STORED, 0)
    for entry in entries[-MAX_STORED:]:
        message = _message(as_object(entry))
        if message is None:
            refused += 1
        elif message.id in known:
            changed[message.id] = message
        elif message.text:
            added.append(Message(**{**asdict(message), "id": uuid4().hex}))
    if refused:
        log_event("runner.messages.refused", logging.WARNING, count=refused)
    deleted = {each for each in as_list(reported.get("deleted")) if isinstance(each, str) and each in known}
    return MessageChanges(
        added=tuple(added),
        changed=tuple(message for each, message in changed.items() if each not in deleted),
        deleted=frozenset(deleted),
    )


def _message(entry: JsonObject) -> Message | None:
    sender, text = _clean(entry.get("sender"), MAX_NAME), _clean(entry.get("text"), MAX_TEXT)
    if not sender or not isinstance(entry.get("text"), str):
        return None
    timestamp = as_text(entry.get("timestamp"))
    return Message(
        id=as_text(entry.get("id")),
        sender=sender,
        sender_name=_clean(entry.get("sender_name"), MAX_NAME) or sender,
        text=without_keys(text),
        context=_clean(entry.get("context"), MAX_NAME),
        timestamp=timestamp if _TIME.fullmatch(timestamp) else _now(),
    )


def _clean(value: Json, most: int) -> str:
    """A text that every database can hold: without zeros and halves of characters, and not too long."""
    return as_text(value)[:most].replace("\0", "").encode("utf-8", "replace").decode()


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
