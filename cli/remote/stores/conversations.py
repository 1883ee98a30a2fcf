"""The conversations that a server keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from agent.contract.endings import approvals_of
from agent.conversation.transcript.parts import AssistantText, Failure, GivenAnswer, TranscriptMessage
from cli.errors import CommandError
from cli.remote.connection import Server, segment
from flows.document import Flow
from server.routes.conversations.models import (
    Conversation,
    ConversationPage,
    ConversationStanding,
    MessagePage,
    Rewound,
)
from tools.approvals import Approval

CONVERSATIONS: Final = "/api/v1/conversations"
RESET: Final = "/api/v1/agentic/sessions/reset"
_PAGE: Final = 200
"""Conversations, or messages, that a page has at most."""


@dataclass(frozen=True)
class State:
    """What a conversation waits for, and its canvas.

    Attributes:
        asked: what waits for the user's decision, by id.
        proposal: the flow that waits for the user's acceptance.
        proposal_id: its id.
        canvas: the canvas that it keeps.
        language: the code of its language.
        running: whether a turn of it runs.
    """

    asked: Mapping[str, Approval]
    proposal: Flow | None
    proposal_id: str | None
    canvas: Flow | None
    language: str
    running: bool


@dataclass(frozen=True)
class Last:
    """A conversation with its last message.

    Attributes:
        title: what it is called.
        messages: how many messages it has.
        flow_id: the stored flow that the last one was about.
        said: the last message and its answer.
    """

    title: str
    messages: int
    flow_id: str | None
    said: tuple[str, str] | None


class RemoteConversations:
    """The conversations that a server keeps.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def entries(self, text: str = "", limit: int = _PAGE) -> tuple[list[Conversation], int]:
        """Conversations, last used first, and how many there are in all.

        Args:
            text: what their title or preview contains.
            limit: how many at most.
        """
        found: list[Conversation] = []
        while True:
            asked: dict[str, str | int] = {"limit": min(limit - len(found), _PAGE), "offset": len(found), "q": text}
            page = self._server.read(ConversationPage, CONVERSATIONS, asked)
            found += page.conversations
            if len(found) >= limit or page.next is None or not page.conversations:
                return found, page.total

    def messages(self, session: str, offset: int = 0) -> tuple[Conversation, list[TranscriptMessage]]:
        """A conversation with its messages from a place on, oldest first."""
        found: list[TranscriptMessage] = []
        while True:
            asked = {"limit": _PAGE, "offset": offset + len(found)}
            page = self._server.read(MessagePage, _place(session), asked)
            found += page.messages
            if page.next is None or not page.messages:
                return page.conversation, found

    def last(self, session: str) -> Last:
        """A conversation with its last message."""
        first = self._server.read(MessagePage, _place(session), {"limit": 1})
        known = first.conversation
        _, found = self.messages(session, max(known.messages - 1, 0))
        said = (asked_in(found[-1]), answer_of(found[-1])) if found else None
        return Last(title=known.title, messages=known.messages, flow_id=known.flow_id, said=said)

    def state(self, session: str) -> State | None:
        """What a conversation waits for; None when there is no such one."""
        try:
            found = self._server.read(ConversationStanding, f"{_place(session)}/state")
        except CommandError as error:
            if error.code == "conversation_not_found":
                return None
            raise
        return State(
            asked=approvals_of(found.approvals),
            proposal=found.proposal,
            proposal_id=found.proposal_id,
            canvas=found.canvas,
            language=found.language,
            running=found.running,
        )

    def retitle(self, session: str, title: str) -> Conversation:
        """Give a conversation another title."""
        return self._server.change(Conversation, "PATCH", _place(session), {"title": title})

    def remove(self, session: str) -> None:
        """Delete a conversation."""
        self._server.send("DELETE", _place(session))

    def rewind(self, session: str, message: str, *, flow: bool) -> Rewound:
        """Take back a message and everything after it.

        Args:
            session: the conversation.
            message: the id of the message.
            flow: whether the stored flow is put back as well.
        """
        return self._server.change(Rewound, "POST", f"{_place(session)}/rewind", {"message": message, "flow": flow})

    def reset(self, session: str, what: Literal["all", "session"]) -> None:
        """Delete a conversation, with the components created for the user or without them."""
        self._server.change(dict[str, Any], "POST", RESET, {"session_id": session, "what": what})


def asked_in(message: TranscriptMessage) -> str:
    """What the user wrote; of answers alone, what was decided."""
    decided = dict.fromkeys(part.decision for part in message.parts if isinstance(part, GivenAnswer))
    return message.text or f"({', '.join(decided)})"


def answer_of(message: TranscriptMessage) -> str:
    """What was answered to a message, or why nothing was."""
    said = [part for part in message.parts if isinstance(part, AssistantText | Failure)]
    last = said[-1] if said else None
    return last.message if isinstance(last, Failure) else last.text if last else ""


def _place(session: str) -> str:
    return f"{CONVERSATIONS}/{segment(session)}"
