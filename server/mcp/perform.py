"""Calling a tool over MCP: its scope, the user's approval, its place among the runs, its errors, and its telemetry."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final

from pydantic_ai import ApprovalRequired

from agent.errors import AssistantUnavailable
from agent.prompts.frames import framed_result
from flows.document import JsonObject
from runtime.database.errors import StoreUnavailable
from runtime.telemetry import log_event
from server.errors import ApiError
from server.limits.admission import admit_run
from server.mcp.answers import Answer, BatchAnswer, BatchStep
from server.mcp.call import Call, NotAsked, Suspended, ToolFailed
from server.mcp.consent.permissions import permission_for
from server.mcp.consent.texts import is_changeable, with_approved_texts
from server.mcp.tools.table import all_tools
from server.mcp.tools.tool import Group, Tool
from server.mcp.transports.headers import PERMISSION_HEADER
from server.requests.disconnect import TimeIsOver
from server.store.flows import FlowNotStored, TooManyFlows, VersionConflict
from tools.approvals import Approval, approval_text, read_approval
from tools.replies import clip

QUESTIONS: Final = 8
"""How many questions one call may ask."""

ASKED_CHARACTERS: Final = 2_000
"""How many characters of a question are shown."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What came of a call.

    Attributes:
        text: what a model reads, framed as data.
        data: the answer's fields; None when the tool failed.
    """

    text: str
    data: JsonObject | None

    @property
    def ok(self) -> bool:
        """Whether the tool did what was asked."""
        return self.data is not None

    @classmethod
    def of(cls, name: str, answer: Answer) -> Outcome:
        """What the answer of a tool is told as.

        Args:
            name: the tool.
            answer: its answer.
        """
        text = framed_result(name, answer.text)
        return cls(text, {**answer.model_dump(mode="json"), "text": text})


async def perform(name: str, call: Call, arguments: Mapping[str, Any]) -> Outcome:
    """Call a tool.

    Args:
        name: the tool.
        call: who calls, and what is allowed.
        arguments: what it is given; validated here.

    Raises:
        Suspended: the user's answer comes with another call.
        KeyError: there is no such tool.
    """
    tool = TOOLS[name]
    begun, kind = perf_counter(), "crash"
    log_event("flow_builder.tool.invoked", tool_name=name, client="mcp")
    try:
        answer = await _approved(tool, call, arguments)
        kind = "batch" if isinstance(answer, BatchAnswer) and not answer.ok else ""
        return Outcome.of(name, answer)
    except ToolFailed as failed:
        kind = failed.kind
        return Outcome(framed_result(name, failed.message), None)
    except Suspended:
        kind = ""
        raise
    except BaseException as failure:
        told = _told(failure)
        if told is None:
            kind = "cancelled" if not isinstance(failure, Exception) else kind
            raise
        kind, message = told
        return Outcome(message, None)
    finally:
        _log_end(name, kind, begun)


async def step(name: str, call: Call, arguments: Mapping[str, Any]) -> BatchStep:
    """Call a tool for a batch."""
    if name not in TOOLS:
        return BatchStep(tool=name[:100], ok=False, result={"text": f"There is no tool {name[:100]!r}."})
    outcome = await perform(name, call, arguments)
    return BatchStep(tool=name, ok=outcome.ok, result=outcome.data or {"text": outcome.text})


TOOLS: Final = all_tools(step)
"""Every tool by name."""


def tools_of(group: Group | None) -> list[Tool]:
    """The tools of one of the two servers, or of both in one."""
    return [tool for tool in TOOLS.values() if group is None or group in tool.group]


async def _approved(tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Answer:
    """The answer of a tool, which is made anew after each approval."""
    if tool.scope not in call.caller.user.scopes:
        message = f"This needs the scope {tool.scope!r}, which the user's token does not have."
        raise ToolFailed(f"{message} Nothing was done.", "missing_scope")
    for _ in range(QUESTIONS):
        try:
            return await _placed(tool, call, with_approved_texts(tool.name, arguments, call.given))
        except ApprovalRequired as asked:
            question = read_approval(asked.metadata or {})
        log_event("mcp.approval.asked", tool_name=tool.name, kind=question.kind)
        try:
            approved = await call.ask(question, call.given, is_changeable(tool.name, arguments, question))
        except NotAsked:
            raise ToolFailed(_refusal(tool.name, question), "approval_needed") from None
        if approved is None:
            raise ToolFailed("Nothing was done: the user said no. Do not try it again.", "denied")
        call = replace(call, given=(*call.given, approved))
    raise ToolFailed("Nothing was done: it asks too many questions. Do it in smaller steps.", "too_many_questions")


async def _placed(tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Answer:
    """The answer of a tool; one that runs flows has a place among the runs, and ends with it."""
    if not tool.runs:
        return await tool.act(call, arguments)
    slot = await admit_run(call.caller)
    try:
        return await slot.within(tool.act(call, arguments))
    except TimeIsOver:
        raise ToolFailed("It took longer than it may, and was ended. Ask for less at a time.", "timeout") from None


def question_text(question: Approval) -> str:
    """A question as it is put to the user, who has written no message of which it could say why it is asked."""
    bare = question if question.kind == "plan" else question.model_copy(update={"why": ""})
    return clip(approval_text(bare), ASKED_CHARACTERS)


def _refusal(name: str, question: Approval) -> str:
    """What is said when the user cannot be asked, with the ways in which they can allow it themselves."""
    hosts = question.hosts if question.kind == "outbound" else []
    files = name in {"write_file", "edit_file", "run_flow"} and question.kind == "removal"
    removes = question.kind != "removal" or question.title.startswith(("Remove", "Delete"))
    permission = "overwrite_files" if files else permission_for(question.kind, hosts) if removes else "edit"
    ways = ["use a client that can ask its user (elicitation)"]
    if permission:
        ways.append(
            f"allow it in the client's configuration: `wirewright mcp --allow {permission}`, or over HTTP the header "
            f"`{PERMISSION_HEADER}: {permission}`"
        )
    ways.append("do it in Wirewright: `wirewright chat`, or its page")
    return (
        "Not done: this needs the user's approval, and this client cannot ask for it.\n"
        f"What would be done: {question_text(question)}\n"
        f"The user can {'; '.join(ways)}. Tell the user so; do not look for another way."
    )


def _told(failure: BaseException) -> tuple[str, str] | None:
    """The kind of a failure and the message for the client; None for one that ends the call."""
    match failure:
        case ApiError():
            return failure.code, f"{failure.message} {failure.fix}".strip()
        case FlowNotStored():
            return "flow_not_found", f"There is no flow {failure.flow_id[:80]!r}. list_flows gives the ids."
        case TooManyFlows():
            return "too_many_flows", f"The user has {failure.limit:,} flows, which is the limit; nothing was stored."
        case VersionConflict():
            return "version_conflict", "The flow is being changed by others; nothing was changed. Try again."
        case AssistantUnavailable():
            return failure.error.code, f"{failure.error.message} {failure.error.fix}".strip()
        case StoreUnavailable():
            log.error("store.unavailable", exc_info=failure)
            return "store_unavailable", f"{failure.message} {failure.fix}".strip()
        case Exception():
            log.error("mcp.tool.crashed", exc_info=failure)
            return "internal", "Something went wrong inside the server; its log has the details."
        case _:
            return None


def _log_end(name: str, kind: str, begun: float) -> None:
    duration = round((perf_counter() - begun) * 1000, 1)
    log_event("flow_builder.tool.finished", tool_name=name, success=not kind, duration_ms=duration, client="mcp")
    if kind:
        log_event("flow_builder.tool.failed", logging.ERROR, tool_name=name, error=kind, client="mcp")
