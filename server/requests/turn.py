"""What a request for a turn may not name, and the answers that it brings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent.contract.requests import AssistRequest
from agent.toolsets.client import name_taken, refused_name
from agent.toolsets.selection import all_tools
from agent.turn.request import Answer
from runtime.files.names import FileRefused
from runtime.telemetry import log_event
from server.access.caller import Caller
from server.errors import ApiError
from server.streams.signals import approved_by, is_signal, signal_of


def check_tools(body: AssistRequest) -> None:
    """Refuse tools of the client whose names are used, and a call that is both decided and answered.

    Raises:
        ApiError: 422, with its place.
    """
    twice = body.approvals.keys() & body.tool_results.keys()
    if twice:
        message, where = f"{min(twice)[:100]!r} has a decision and a result.", "$.tool_results"
        raise ApiError(422, "invalid_request", message, "Send one of the two.", where)
    at = refused_name(body.tools, all_tools()) if body.tools else None
    if at is not None:
        error = name_taken(body.tools[at].name)
        raise ApiError(422, error.code, error.message, error.fix, f"$.tools[{at}].name")


async def check_files(caller: Caller, named: Sequence[str]) -> None:
    """Refuse a request that names a file which the user does not have.

    Raises:
        ApiError: 422, with its place.
    """
    if not named:
        return
    try:
        listed = {path for path, _ in await asyncio.to_thread(caller.files.listing)}
    except FileRefused as refused:
        raise ApiError(422, "file_refused", refused.message, where="$.files") from None
    for at, path in enumerate(named):
        if path not in listed:
            message = f"There is no file {path[:200]!r}."
            raise ApiError(422, "file_not_found", message, "Add it with POST /api/v1/files.", f"$.files[{at}]")


async def answers_of(caller: Caller, body: AssistRequest, session: str) -> dict[str, Answer]:
    """The answers of a request: by id, or by one of the two fixed messages."""
    answers = body.answers
    if not is_signal(body.input_value):
        return answers
    log_event("intent.build_flow.deterministic", signal=signal_of(body.input_value), session_id=session)
    answers |= approved_by(body.input_value, await caller.assistant.pending(caller.id, session))
    if not answers:
        raise ApiError(
            409, "nothing_pending", "No approval is pending in this conversation.", "Send a message.", "$.input_value"
        )
    return answers
