"""Putting a question to a client's user: by elicitation, in a session or in the reply of the protocol without one."""

from __future__ import annotations

from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from runtime.telemetry import log_event
from server.mcp.call import Ask, NotAsked, Suspended
from server.mcp.consent.waiting import SECONDS
from server.mcp.perform import question_text
from tools.approvals import Approval

KEY: Final = "approval"
"""The name of the question in a reply."""

FIELD: Final = "approve"

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {FIELD: {"type": "boolean", "title": "Allow it", "description": "Whether this may be done."}},
    "required": [FIELD],
}
"""What the user fills in."""


def asks(context: ServerRequestContext[Any, Any]) -> Ask:
    """What asks the user of a request's client."""

    async def ask(question: Approval, given: tuple[Approval, ...]) -> bool:
        session = context.session
        if not _can_ask(session):
            raise NotAsked
        if not session.can_send_request:
            if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
                raise Suspended(question, given)
            raise NotAsked
        try:
            with anyio.fail_after(SECONDS):
                reply = await session.elicit_form(question_text(question), SCHEMA, context.request_id)
        except (MCPError, TimeoutError):  # the client cannot after all, or its user is not there
            log_event("mcp.approval.unanswered", kind=question.kind)
            raise NotAsked from None
        return has_agreed(reply)

    return ask


def request_of(question: Approval) -> types.ElicitRequest:
    """A question as the protocol without sessions carries it in a reply."""
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=question_text(question), requested_schema=SCHEMA)
    )


def has_agreed(reply: object) -> bool:
    """Whether a reply is a yes; anything but a clear one is a no."""
    if not isinstance(reply, types.ElicitResult) or reply.action != "accept":
        return False
    return (reply.content or {}).get(FIELD) is True


def _can_ask(session: ServerSession) -> bool:
    """Whether a client shows forms to its user; one that names no kind of elicitation shows forms."""
    capabilities = session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
