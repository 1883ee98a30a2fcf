"""The chat memory of a run: the messages of its session, in this process.

Without a database lfx stores no messages. `use` makes lfx's memory functions work on the messages that the run was
given; what the run stores, changes and deletes in its session is part of its result.
"""

import sys
import uuid
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from types import ModuleType
from typing import Any

import lfx.memory
from lfx.memory.flow_context import should_persist_messages
from lfx.schema.message import Message
from lfx.utils.async_helpers import run_until_complete

from lfx_runner.node_events import building_node


@dataclass(frozen=True, kw_only=True)
class Record:
    """A stored message, as plain text."""

    id: str
    sender: str
    sender_name: str
    text: str
    session: str
    context: str = ""
    timestamp: str = ""

    def message(self) -> Message:
        """The message that components get."""
        stamp = {"timestamp": self.timestamp} if self.timestamp else {}
        return Message(
            id=self.id,
            text=self.text,
            sender=self.sender,
            sender_name=self.sender_name,
            session_id=self.session,
            context_id=self.context,
            **stamp,
        )

    def to_json(self) -> dict[str, str]:
        """The message without its session, which the host knows."""
        return {name: value for name, value in asdict(self).items() if name != "session"}


class Memory:
    """The messages of one run's session, and those that the run stores under other session ids, which end with it.

    What the chat inputs store is the run's own input, not history: it is kept for later runs, but not given back.

    Args:
        session: the session's id.
        given: its messages, oldest first.
        inputs: the ids of the chat inputs.
    """

    def __init__(self, session: str, given: Collection[Mapping[str, str]] = (), inputs: Collection[str] = ()) -> None:
        self._session = session
        self._records = {each["id"]: Record(session=session, **each) for each in given}
        self._given = dict(self._records)
        self._inputs = inputs
        self._typed: set[str] = set()

    def changes(self) -> dict[str, Any]:
        """What the run stored or changed in its session, in order, and the ids that it deleted of those given."""
        mine = [each for each in self._records.values() if each.session == self._session]
        return {
            "stored": [each.to_json() for each in mine if self._given.get(each.id) != each],
            "deleted": [known for known in self._given if known not in self._records],
        }

    def put(self, message: Message) -> None:
        """Store a message, or what became of it; one with the id of another sender's message gets a new id."""
        known = self._records.get(str(message.get_id() or ""))
        if known is None or known.sender != str(message.sender):
            message.id = str(uuid.uuid4())
        record = Record(
            id=str(message.get_id()),
            sender=str(message.sender),
            sender_name=str(message.sender_name),
            text=message.text if isinstance(message.text, str) else "",
            session=str(message.session_id),
            context=str(message.context_id or ""),
            timestamp=str(message.timestamp or ""),
        )
        self._records[record.id] = record
        if building_node() in self._inputs:
            self._typed.add(record.id)
        else:
            self._typed.discard(record.id)

    def update(self, message: Message) -> None:
        """Replace a stored message's text and sender.

        Raises:
            ValueError: it is not stored.
        """
        known = self._records.get(str(message.get_id() or ""))
        if known is None:
            raise ValueError(f"Message with id {message.get_id()} not found")
        text = message.text if isinstance(message.text, str) else known.text
        self._records[known.id] = replace(
            known, text=text, sender=str(message.sender), sender_name=str(message.sender_name)
        )

    def find(
        self,
        *,
        sender: str | None,
        sender_name: str | None,
        session: object,
        context: object,
        newest_first: bool,
        limit: int | None,
    ) -> list[Message]:
        """The stored messages that fit; None or an empty value fits all."""
        wanted = {"sender": sender, "sender_name": sender_name, "session": session, "context": context}
        tests = {name: str(value) for name, value in wanted.items() if value}
        found = [
            each
            for each in self._records.values()
            if each.id not in self._typed and all(getattr(each, name) == value for name, value in tests.items())
        ]
        ordered = found[::-1] if newest_first else found
        return [each.message() for each in (ordered[:limit] if limit else ordered)]

    def remove(self, message_id: object) -> None:
        """Delete a message, if it is stored."""
        self._records.pop(str(message_id), None)

    def clear(self, session: object, context: object) -> None:
        """Delete the messages of a session, or of a context of it."""
        for each in list(self._records.values()):
            if (not session or each.session == str(session)) and (not context or each.context == str(context)):
                del self._records[each.id]


_current = Memory("")


def use(memory: Memory) -> None:
    """Let lfx's memory functions work on `memory` from now on."""
    global _current
    _current = memory


# lfx's functions, under its names and with its parameters. Owner, flow and run are those of this process, and the order
# is that of storing.


async def astore_message(
    message: Message,
    flow_id: Any = None,
    run_id: Any = None,
    user_id: Any = None,  # noqa: ARG001 - in lfx's signature, and the same for all of a run
) -> list[Message]:
    """Store a message, or what became of it."""
    if not message:
        return []
    if not should_persist_messages():
        return [message]
    if not message.session_id or not message.sender or not message.sender_name:
        raise ValueError("A message needs a session_id, a sender and a sender_name to be stored.")
    if flow_id:
        message.flow_id = str(flow_id)
    if run_id:
        message.run_id = str(run_id)
    _current.put(message)
    return [message]


async def aadd_messages(messages: Message | list[Message], *scope: Any, **named: Any) -> list[Message]:
    """Store several messages."""
    each = messages if isinstance(messages, list) else [messages]
    return [stored for message in each for stored in await astore_message(message, *scope, **named)]


aadd_messagetables = aadd_messages


async def aupdate_messages(messages: Message | list[Message]) -> list[Message]:
    """Replace stored messages."""
    each = messages if isinstance(messages, list) else [messages]
    for message in each:
        _current.update(message)
    return each


async def aget_messages(
    sender: str | None = None,
    sender_name: str | None = None,
    session_id: Any = None,
    context_id: Any = None,
    order_by: str | None = "timestamp",  # noqa: ARG001 - messages are only ever ordered by time
    order: str | None = "DESC",
    flow_id: Any = None,  # noqa: ARG001 - in lfx's signature, and the same for all of a run
    limit: int | None = None,
    user_id: Any = None,  # noqa: ARG001 - in lfx's signature, and the same for all of a run
) -> list[Message]:
    """The stored messages that fit, the newest first unless `order` is `ASC`."""
    return _current.find(
        sender=sender,
        sender_name=sender_name,
        session=session_id,
        context=context_id,
        newest_first=str(order).upper() != "ASC",
        limit=limit,
    )


async def delete_message(id_: Any) -> None:
    """Delete a message."""
    _current.remove(id_)


async def adelete_messages(session_id: Any = None, context_id: Any = None) -> None:
    """Delete the messages of a session or of a context."""
    if not session_id and not context_id:
        raise ValueError("Either session_id or context_id must be provided to delete messages.")
    _current.clear(session_id, context_id)


def store_message(message: Message, *scope: Any, **named: Any) -> list[Message]:
    """As `astore_message`, for code that is not asynchronous."""
    return run_until_complete(astore_message(message, *scope, **named))


def add_messages(messages: Message | list[Message], *scope: Any, **named: Any) -> list[Message]:
    """As `aadd_messages`, for code that is not asynchronous."""
    return run_until_complete(aadd_messages(messages, *scope, **named))


def get_messages(*arguments: Any, **options: Any) -> list[Message]:
    """As `aget_messages`, for code that is not asynchronous."""
    return run_until_complete(aget_messages(*arguments, **options))


def delete_messages(session_id: Any = None, context_id: Any = None) -> None:
    """As `adelete_messages`, for code that is not asynchronous."""
    run_until_complete(adelete_messages(session_id, context_id))


def _implementation() -> ModuleType:
    return sys.modules[__name__]


lfx.memory._impl = _implementation
