"""The memory of one session, as a run uses it, and the sessions of a process that stores nothing."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, Protocol

from flows.document import Json
from runtime.sessions.messages import Message, MessageChanges

MAX_MESSAGES: Final = 1_000
"""How many messages of a session are kept; the oldest are dropped first."""
MAX_BYTES: Final = 1_000_000
"""How many bytes of messages of a session are kept; the oldest messages are dropped first."""
MAX_SESSIONS: Final = 1_000
"""How many sessions of a user are kept; the least recently used are dropped first."""


class SessionMemory(Protocol):
    """The messages of one session of one user's flow. Both methods may raise `StoreUnavailable`."""

    async def load(self) -> list[Message]:
        """Its messages, oldest first."""
        ...

    async def save(self, changes: MessageChanges) -> None:
        """Keep what a run made of them. What other runs have added meanwhile stays."""
        ...


@dataclass
class RunMessages:
    """The messages that a run is given, and what its engine reports about them, unread."""

    given: list[Message]
    reported: Json = None


@dataclass
class ProcessSessions:
    """The sessions of runs whose caller gives no memory, for as long as this process uses them."""

    _sessions: OrderedDict[tuple[str, str], list[Message]] = field(
        default_factory=OrderedDict[tuple[str, str], list[Message]]
    )

    def memory(self, flow: str, session: str) -> ProcessSession:
        """The messages of one session of a flow."""
        return ProcessSession(self, (flow, session))

    def messages(self, key: tuple[str, str]) -> list[Message]:
        """The messages under a key."""
        return list(self._sessions.get(key, ()))

    def save(self, key: tuple[str, str], changes: MessageChanges) -> None:
        """Apply changes to the messages under a key."""
        changed = {each.id: each for each in changes.changed}
        kept = [changed.get(each.id, each) for each in self.messages(key) if each.id not in changes.deleted]
        self._sessions[key] = newest([*kept, *changes.added])
        self._sessions.move_to_end(key)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)


@dataclass(frozen=True)
class ProcessSession:
    """One session of a process."""

    sessions: ProcessSessions
    key: tuple[str, str]

    async def load(self) -> list[Message]:
        """Its messages, oldest first."""
        return self.sessions.messages(self.key)

    async def save(self, changes: MessageChanges) -> None:
        """Keep what a run made of them."""
        self.sessions.save(self.key, changes)


def newest(messages: list[Message]) -> list[Message]:
    """The last messages that are within the limits of a session."""
    size = 0
    for index, message in enumerate(reversed(messages)):
        size += message.size
        if index == MAX_MESSAGES or size > MAX_BYTES:
            return messages[len(messages) - index :]
    return messages
