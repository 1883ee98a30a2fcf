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
from server.mcp.consent.texts import with_text
from server.mcp.consent.waiting import SECONDS
from server.mcp.perform import question_text
from tools.approvals import Approval

KEY: Final = "approval"
"""The name of the question in a reply."""

FIELD: Final = "approve"

TEXT: Final = "text"


def form_of(question: Approval, *, changeable: bool) -> dict[str, Any]:
    """What the user fills in.

    Args:
        question: what is asked.
        changeable: whether the text that is asked about can be approved with other words.
    """
    fields: dict[str, Any] = {
        FIELD: {"type": "boolean", "title": "Allow it", "description": "Whether this may be done."}
    }
    if changeable and question.kind == "edit":
        fields[TEXT] = {
            "type": "string",
            "title": "Text",
            "description": "Change it here to allow it with other words.",
            "default": question.edit.new,
        }
    return {"type": "object", "properties": fields, "required": [FIELD]}


def asks(context: ServerRequestContext[Any, Any]) -> Ask:
    """What asks the user of a request's client."""

    async def ask(question: Approval, given: tuple[Approval, ...], changeable: bool) -> Approval | None:  # noqa: FBT001  (a callback's form)
        session = context.session
        if not _can_ask(session):
            raise NotAsked
        if not session.can_send_request:
            if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
                raise Suspended(question, given, changeable=changeable)
            raise NotAsked
        form = form_of(question, changeable=changeable)
        try:
            with anyio.fail_after(SECONDS):
                reply = await session.elicit_form(question_text(question), form, context.request_id)
        except (MCPError, TimeoutError):  # the client cannot after all, or its user is not there
            log_event("mcp.approval.unanswered", kind=question.kind)
            raise NotAsked from None
        return approved(reply, question, changeable=changeable)

    return ask


def request_of(question: Approval, *, changeable: bool) -> types.ElicitRequest:
    """A question as the protocol without sessions carries it in a reply."""
    form = form_of(question, changeable=changeable)
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=question_text(question), requested_schema=form)
    )


def approved(reply: object, question: Approval, *, changeable: bool) -> Approval | None:
    """What a reply approves; anything but a clear yes is a no.

    Args:
        reply: the reply.
        question: what was asked.
        changeable: whether the text that was asked about can be approved with other words.
    """
    if not isinstance(reply, types.ElicitResult) or reply.action != "accept":
        return None
    content = reply.content or {}
    if content.get(FIELD) is not True:
        return None
    return with_text(question, content.get(TEXT)) if changeable else question


def _can_ask(session: ServerSession) -> bool:
    """Whether a client shows forms to its user; one that names no kind of elicitation shows forms."""
    capabilities = session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
