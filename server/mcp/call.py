"""One call of a tool over MCP: who calls, what is allowed, and how the user is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias
from uuid import uuid4

from pydantic_ai import ApprovalRequired

from flows.document import JsonObject
from server.access.caller import Caller
from server.mcp.consent.baselines import Base, Baselines
from server.store.flows import StoredFlow
from tools.approvals import Approval, Consent, approval_metadata
from tools.consent.ask import Given
from tools.mandate import Mandate

SESSION = "mcp"
"""The conversation that changes over MCP are noted under."""


class ToolFailed(Exception):
    """A tool did not do what was asked.

    Attributes:
        message: why, and what to do, for the model that called.
        kind: a stable name of the kind of failure, for the log.
    """

    def __init__(self, message: str, kind: str = "failed") -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind


class NotAsked(Exception):
    """A question that this client cannot put to its user."""


class Suspended(Exception):
    """A question that is answered by another call: the protocol without sessions asks in its replies.

    Attributes:
        question: what is asked.
        given: what was approved before.
        changeable: whether the text that is asked about can be approved with other words.
        done: what of a batch is done.
    """

    def __init__(self, question: Approval, given: tuple[Approval, ...], *, changeable: bool) -> None:
        super().__init__(question.kind)
        self.question = question
        self.given = given
        self.changeable = changeable
        self.done: Sequence[JsonObject] = ()


Ask: TypeAlias = Callable[[Approval, tuple[Approval, ...], bool], Awaitable[Approval | None]]
"""Asks the user, given the question, what was approved before, and whether the text that is asked about can be approved
with other words. Gives what the user approves, None for a no; may raise `NotAsked` or `Suspended`."""

Report: TypeAlias = Callable[[str], Awaitable[None]]
"""Tells the client what is happening now."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call.

    Attributes:
        caller: the user, with what is theirs.
        client: names the client, as far as clients can be told apart: what one of them made is its own.
        baselines: what the user's flows held before the client worked on them.
        mandate: what the client's configuration allows.
        ask: asks the user.
        report: tells what is happening.
        given: what the user has approved for this call.
        done: what of a batch was done before it waited for an answer.
        id: names the call in what it stores.
    """

    caller: Caller
    client: str
    baselines: Baselines
    mandate: Mandate
    ask: Ask
    report: Report
    given: tuple[Approval, ...] = ()
    done: Sequence[JsonObject] = ()
    id: str = field(default_factory=lambda: uuid4().hex)

    async def base_of(self, stored: StoredFlow) -> Base:
        """What of a stored flow is the user's, and not this client's own."""
        return await self.baselines.of(self.caller.id, self.client, stored, await self.caller.flows())

    async def note_base(self, flow_id: str, before: int | None, version: int) -> None:
        """Note that the client has stored a version of a flow, of which a version before is the user's."""
        await self.baselines.note(self.caller.id, self.client, flow_id, before, version)

    async def forget_base(self, flow_id: str) -> None:
        """Take all of a flow for the user's."""
        await self.baselines.forget(self.caller.id, self.client, flow_id)

    def require(self, question: Consent) -> None:
        """Return when the user has approved exactly this for the call.

        Args:
            question: what is asked; nothing beyond its subjects may then be done.

        Raises:
            ApprovalRequired: it has not been approved yet.
        """
        if not Given(approvals=self.given).covers(question):
            raise ApprovalRequired(metadata=approval_metadata(question))


def fail(message: str, kind: str = "failed") -> NoReturn:
    """End a call that cannot do what was asked."""
    raise ToolFailed(message, kind)
