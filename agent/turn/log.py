"""The news of a turn: what its events mean for the log, told under the names that dashboards know."""

import asyncio
import logging
from time import perf_counter

from pydantic_ai import FunctionToolCallEvent, FunctionToolResultEvent
from pydantic_ai.messages import ToolCallPart

from agent.models.providers import ModelChoice
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from agent.turn.stream import Body, Send
from flows.document import Flow
from flows.json_values import as_list, object_at
from runtime.telemetry import log_event
from tools.approvals import PlanApproval
from tools.events import FileWritten, FlowPreview, FlowUpdate, Progress

_NAMED = {"component_id": "component_id", "type": "component_type", "component_type": "component_type"}
_LONG = 80


def logged(body: Body, request: TurnRequest, choice: ModelChoice, settings: AssistantSettings) -> Body:
    """The same turn, its news told while it happens.

    Args:
        body: runs the turn.
        request: what was asked.
        choice: the models that serve it.
        settings: says whether content may be told.
    """

    async def run(send: Send) -> None:
        news = _News(request, choice, content=settings.trace_content)

        async def tell(event: TurnEvent) -> None:
            news.saw(event)
            await send(event)

        try:
            await body(tell)
        except asyncio.CancelledError:
            news.cancelled()
            raise

    return run


class _News:
    """Tells the news of one turn.

    Args:
        request: what was asked.
        choice: the models that serve it.
        content: whether what was said may be told.
    """

    def __init__(self, request: TurnRequest, choice: ModelChoice, *, content: bool) -> None:
        self._request = request
        self._choice = choice
        self._content = content
        self._began = perf_counter()
        self._calls: dict[str, float] = {}
        self._ended = False
        self._flow = request.flow or Flow.empty()
        log_event(
            "assistant.request.started",
            user_id=request.user,
            session_id=request.session,
            provider=choice.provider,
            model_name=choice.names[0] if choice.names else None,
            characters=len(request.text),
            **({"text": request.text} if content else {}),
        )

    def saw(self, event: TurnEvent) -> None:
        """Tell what one event means."""
        match event:
            case FunctionToolCallEvent():
                self._invoked(event.part)
            case FunctionToolResultEvent():
                self._finished(event)
            case FlowUpdate():
                self._changed(event)
            case FlowPreview():
                self._flow = event.flow
            case Progress(step="flow_proposal_ready"):
                counts = {"node_count": len(self._flow.nodes), "edge_count": len(self._flow.edges)}
                log_event("flow_builder.proposal.ready", attempt=event.attempt, **counts)
            case Progress(step="generating"):
                log_event("assistant.generation.attempt", attempt=event.attempt, max_retries=event.max_attempts)
            case FileWritten():
                log_event("assistant.file.written", change=event.change.change, size=event.change.size)
            case TurnEnded():
                self._completed(event.result)
            case _:
                pass

    def cancelled(self) -> None:
        """Tell that the turn was left before its end."""
        if not self._ended:
            log_event("assistant.request.cancelled", reason="abandoned", duration_ms=self._milliseconds(self._began))

    def _invoked(self, part: ToolCallPart) -> None:
        self._calls[part.tool_call_id] = perf_counter()
        given = part.args_as_dict()
        names = {to: given[name][:_LONG] for name, to in _NAMED.items() if isinstance(given.get(name), str)}
        content = {"arguments": part.args} if self._content else {}
        log_event("flow_builder.tool.invoked", tool_name=part.tool_name, **names, **content)

    def _finished(self, event: FunctionToolResultEvent) -> None:
        part = event.part
        took = self._milliseconds(self._calls.pop(part.tool_call_id, perf_counter()))
        said: object = part.content
        fault = isinstance(said, dict) and "error" in said
        good = part.outcome == "success" and not fault
        name = part.tool_name or ""
        log_event("flow_builder.tool.finished", tool_name=name, success=good, duration_ms=took)
        if not good:
            content = {"detail": part.model_response_str()[:500]} if self._content else {}
            error = "refused" if fault else "retry"
            log_event("flow_builder.tool.failed", logging.ERROR, tool_name=name, error=error, **content)

    def _changed(self, event: FlowUpdate) -> None:
        action = event.action
        counts: dict[str, int] = {}
        if action.kind == "set_flow":
            data = object_at(action.new, "data")
            counts = {"node_count": len(as_list(data.get("nodes"))), "edge_count": len(as_list(data.get("edges")))}
        log_event("flow_builder.action.emitted", action=action.kind, applied=event.applied, **counts)

    def _completed(self, result: TurnResult) -> None:
        self._ended = True
        who = {"user_id": self._request.user, "session_id": self._request.session}
        log_event("assistant.intent.classified", intent=result.intent, session_id=self._request.session)
        for phase, usage in result.usage.items():
            tokens = {"input": usage.input_tokens, "output": usage.output_tokens}
            log_event("assistant.tokens.phase", phase=phase, **who, **tokens, total=sum(tokens.values()))
        for approval in result.approvals.values():
            if isinstance(approval, PlanApproval):
                length = len(approval.markdown)
                log_event("assistant.plan.proposed", session_id=self._request.session, markdown_length=length)
        if result.error is not None:
            content = {"error_message": result.error.message} if self._content else {}
            log_event("assistant.flow.error", logging.ERROR, error_type=result.error.code, **content)
        if result.outcome == "cancelled":
            log_event("assistant.request.cancelled", reason="stopped", duration_ms=round(result.seconds * 1000, 1))
            return
        log_event(
            "assistant.request.completed",
            duration_ms=round(result.seconds * 1000, 1),
            provider=self._choice.provider,
            intent=result.intent,
            outcome=result.outcome,
            validated=not any(fault.is_error for fault in result.faults),
            requests=sum(usage.requests for usage in result.usage.values()),
        )

    @staticmethod
    def _milliseconds(since: float) -> float:
        return round((perf_counter() - since) * 1000, 1)
