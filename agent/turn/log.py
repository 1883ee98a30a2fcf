"""Logs the events of a turn, under the names that dashboards know."""

import asyncio
import logging
from dataclasses import dataclass, field
from time import perf_counter

from pydantic_ai import FunctionToolCallEvent, FunctionToolResultEvent
from pydantic_ai.messages import ToolCallPart

from agent.models.providers import ModelChoice
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from agent.turn.stream import Body, Send
from flows.document import Flow
from runtime.telemetry import bound_fields, context_fields, log_event
from tools.approvals import PlanApproval
from tools.events import FileWritten, FlowPreview, FlowUpdate, Progress

_LOGGED_ARGUMENTS = {"component_id": "component_id", "type": "component_type", "component_type": "component_type"}
_ARGUMENT_LIMIT = 80


def logged(body: Body, turn: str, request: TurnRequest, choice: ModelChoice, settings: AssistantSettings) -> Body:
    """Wrap a turn so that its events are logged as they happen, each line with the turn's id.

    Args:
        body: runs the turn.
        turn: the turn's id.
        request: the turn's request.
        choice: the models that serve it.
        settings: says whether content may be logged.
    """

    async def run(send: Send) -> None:
        log = _TurnLog(request, choice, content=settings.trace_content)

        async def send_logged(event: TurnEvent) -> None:
            log.record(event)
            await send(event)

        with bound_fields(turn_id=context_fields().get("turn_id") or turn):
            log.started()
            try:
                await body(send_logged)
            except asyncio.CancelledError:
                log.cancelled()
                raise

    return run


@dataclass
class _TurnLog:
    """Logs one turn; messages, arguments and results are logged only with `content`."""

    request: TurnRequest
    choice: ModelChoice
    content: bool
    begun: float = field(default_factory=perf_counter)
    calls: dict[str, float] = field(default_factory=dict[str, float])
    preview: Flow = field(default_factory=Flow.empty)
    ended: bool = False

    def started(self) -> None:
        """Log the request."""
        self.preview = self.request.flow or self.preview
        log_event(
            "assistant.request.started",
            user_id=self.request.user,
            session_id=self.request.session,
            provider=self.choice.provider,
            model_name=self.choice.names[0] if self.choice.names else None,
            apply=self.request.apply,
            characters=len(self.request.text),
            **({"text": self.request.text} if self.content else {}),
        )

    def record(self, event: TurnEvent) -> None:
        """Log an event, if it is one of those that are logged."""
        match event:
            case FunctionToolCallEvent():
                self._tool_called(event.part)
            case FunctionToolResultEvent():
                self._tool_returned(event)
            case FlowUpdate(action=action):
                counts = _counts(Flow(action.new)) if action.kind == "set_flow" else {}
                log_event("flow_builder.action.emitted", action=action.kind, applied=event.applied, **counts)
            case FlowPreview():
                self.preview = event.flow
            case Progress(step="flow_proposal_ready"):
                log_event("flow_builder.proposal.ready", attempt=event.attempt, **_counts(self.preview))
            case Progress(step="generating"):
                log_event("assistant.generation.attempt", attempt=event.attempt, max_retries=event.max_attempts)
            case FileWritten():
                log_event("assistant.file.written", change=event.change.change, size=event.change.size)
            case TurnEnded():
                self._completed(event.result)
            case _:
                pass

    def cancelled(self) -> None:
        """Log that the client left before the end of the turn."""
        if not self.ended:
            log_event("assistant.request.cancelled", reason="abandoned", duration_ms=_milliseconds_since(self.begun))

    def _tool_called(self, part: ToolCallPart) -> None:
        self.calls[part.tool_call_id] = perf_counter()
        arguments = part.args_as_dict()
        named = {
            key: arguments[name][:_ARGUMENT_LIMIT]
            for name, key in _LOGGED_ARGUMENTS.items()
            if isinstance(arguments.get(name), str)
        }
        content = {"arguments": part.args} if self.content else {}
        log_event("flow_builder.tool.invoked", tool_name=part.tool_name, **named, **content)

    def _tool_returned(self, event: FunctionToolResultEvent) -> None:
        part = event.part
        duration = _milliseconds_since(self.calls.pop(part.tool_call_id, perf_counter()))
        answer: object = part.content
        refused = isinstance(answer, dict) and "error" in answer
        success = part.outcome == "success" and not refused
        name = part.tool_name or ""
        log_event("flow_builder.tool.finished", tool_name=name, success=success, duration_ms=duration)
        if not success:
            content = {"detail": part.model_response_str()[:500]} if self.content else {}
            error = "refused" if refused else "retry"
            log_event("flow_builder.tool.failed", logging.ERROR, tool_name=name, error=error, **content)

    def _completed(self, result: TurnResult) -> None:
        self.ended = True
        session, duration = self.request.session, round(result.seconds * 1000, 1)
        log_event("assistant.intent.classified", intent=result.intent, session_id=session)
        for phase, usage in result.usage.items():
            tokens = {"input": usage.input_tokens, "output": usage.output_tokens}
            total = sum(tokens.values())
            user = self.request.user
            log_event(
                "assistant.tokens.phase",
                phase=phase,
                user_id=user,
                session_id=session,
                **tokens,
                total=total,
                cached=usage.cache_read_tokens,
            )
        for approval in result.approvals.values():
            if isinstance(approval, PlanApproval):
                log_event("assistant.plan.proposed", session_id=session, markdown_length=len(approval.markdown))
        if result.error is not None:
            content = {"error_message": result.error.message} if self.content else {}
            log_event("assistant.flow.error", logging.ERROR, error_type=result.error.code, **content)
        if result.outcome == "cancelled":
            log_event("assistant.request.cancelled", reason="stopped", duration_ms=duration)
            return
        log_event(
            "assistant.request.completed",
            duration_ms=duration,
            provider=self.choice.provider,
            intent=result.intent,
            outcome=result.outcome,
            validated=not any(fault.is_error for fault in result.faults),
            requests=sum(usage.requests for usage in result.usage.values()),
        )


def _counts(flow: Flow) -> dict[str, int]:
    return {"node_count": len(flow.nodes), "edge_count": len(flow.edges)}


def _milliseconds_since(start: float) -> float:
    return round((perf_counter() - start) * 1000, 1)
