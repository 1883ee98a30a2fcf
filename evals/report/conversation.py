"""The conversation of an attempt: messages, thoughts, tool calls, answers and runs, with timings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart

from agent.turn.result import TurnResult
from evals.attempt import Attempt
from evals.report.clipping import Clip, Limits, clip, clip_json, line
from evals.report.svg.canvas import Gallery
from evals.report.svg.replay import Replay, replay_turn
from evals.scenario import Scenario
from flows.catalogue import Catalogue
from flows.fields.secrets import redact
from flows.json_values import Json
from runtime.results import RunResult
from tools.approvals import approval_text


@dataclass(frozen=True)
class ModelText:
    """A text of the model before its answer; `thought` if it is part of its reasoning."""

    text: Clip
    thought: bool
    kind: str = "said"


@dataclass(frozen=True)
class ShownCall:
    """One tool call.

    Attributes:
        reply: the tool's reply; None without one.
        accepted: whether the tool accepted it.
        seconds: from the model's answer, or the call before it, to the tool's reply; None if unknown.
    """

    tool: str
    arguments: Clip
    reply: Clip | None
    accepted: bool
    seconds: float | None
    kind: str = "called"


@dataclass(frozen=True)
class ShownRun:
    """One run of a flow: its input, its result, and whether that is by the flow's own account."""

    input: Clip | None
    output: Clip | None
    error: str
    seconds: float
    tokens: int
    untrusted_code: bool = False


@dataclass(frozen=True)
class ReportedExchange:
    """One turn.

    Attributes:
        user: the user's message; None for a turn that only answers approvals.
        items: what the model said and called before its answer, in order.
        left_out: how many more there are.
        remarks: faults, caveats, approvals, files and errors: the kind and a line of each.
        usage: tokens in and out by phase.
    """

    user: Clip | None
    items: tuple[ModelText | ShownCall, ...]
    left_out: int
    answer: Clip
    outcome: str
    intent: str
    runs: tuple[ShownRun, ...]
    remarks: tuple[tuple[str, str], ...]
    usage: tuple[tuple[str, int, int], ...]
    seconds: float
    models: tuple[str, ...]
    replay: Replay


def conversation(
    attempt: Attempt, scenario: Scenario, gallery: Gallery, catalogue: Catalogue, limits: Limits
) -> tuple[ReportedExchange, ...]:
    """The turns of an attempt for a report."""
    found: list[ReportedExchange] = []
    last: int | None = None
    for place, turn in enumerate(attempt.turns):
        number = attempt.asked[place] if place < len(attempt.asked) else place
        says = scenario.turns[number].say if number != last and number < len(scenario.turns) else None
        last = number
        items = _items(turn.messages, limits.text)
        if items and isinstance(items[-1], ModelText) and items[-1].text == clip(turn.text, limits.text):
            items.pop()  # it is shown below, as the answer
        found.append(
            ReportedExchange(
                user=None if says is None else clip(says, limits.text),
                items=tuple(items[: limits.items]),
                left_out=max(0, len(items) - limits.items),
                answer=clip(turn.text, limits.text),
                outcome=turn.outcome,
                intent=turn.intent,
                runs=tuple(shown_run(None, run, limits) for run in turn.runs[: limits.items]),
                remarks=tuple(_remarks(turn)[: limits.items]),
                usage=tuple((name, used.input_tokens, used.output_tokens) for name, used in sorted(turn.usage.items())),
                seconds=turn.seconds,
                models=tuple(line(model, 80) for model in turn.models),
                replay=replay_turn(turn, gallery, catalogue, limits.items),
            )
        )
    return tuple(found)


def shown_run(text: str | None, run: RunResult, limits: Limits) -> ShownRun:
    """A run for a report.

    Args:
        text: the chat's input, if known.
    """
    error = ""
    if run.error is not None:
        error = line(f"{run.error.code}: {run.error.message} {run.error.fix}", limits.text)
    return ShownRun(
        input=None if text is None else clip(text, limits.text),
        output=None if run.output is None else clip(run.output, limits.text),
        error=error,
        seconds=run.metrics.seconds,
        tokens=run.metrics.total_tokens,
        untrusted_code=run.untrusted_code,
    )


def _items(messages: Sequence[ModelMessage], limit: int) -> list[ModelText | ShownCall]:
    replies: dict[str, _Reply] = {}
    for message in messages:
        for part in message.parts if isinstance(message, ModelRequest) else ():
            if isinstance(part, ToolReturnPart):
                replies[part.tool_call_id] = _Reply(str(part.content), part.outcome == "success", part.timestamp)
            elif part.part_kind == "retry-prompt":
                replies[part.tool_call_id] = _Reply(str(part.content), accepted=False, at=part.timestamp)
    found: list[ModelText | ShownCall] = []
    for message in messages:
        if not isinstance(message, ModelResponse):
            continue
        since = message.timestamp
        for part in message.parts:
            if isinstance(part, TextPart | ThinkingPart) and part.content.strip():
                found.append(ModelText(clip(part.content, limit), isinstance(part, ThinkingPart)))
            elif isinstance(part, ToolCallPart):
                reply = replies.get(part.tool_call_id)
                found.append(_shown_call(part, reply, since, limit))
                since = since if reply is None else reply.at
    return found


@dataclass(frozen=True)
class _Reply:
    content: str
    accepted: bool
    at: datetime


def _shown_call(part: ToolCallPart, reply: _Reply | None, since: datetime, limit: int) -> ShownCall:
    arguments: Json = part.args
    passed = -1.0 if reply is None else (reply.at - since).total_seconds()
    return ShownCall(
        line(part.tool_name, 80),
        _arguments(arguments, limit),
        None if reply is None else clip(reply.content, limit),
        accepted=reply is not None and reply.accepted,
        seconds=passed if passed >= 0 else None,
    )


def _arguments(given: Json, limit: int) -> Clip:
    """Readable arguments: a line `name: value` for each, texts without quotes and with their line breaks."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return clip(str(given), limit)
    if not isinstance(given, dict):
        return clip_json({} if given is None else given, limit)
    lines: list[str] = []
    shown = redact(given)
    for name, value in shown.items() if isinstance(shown, dict) else ():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        inner = text.rstrip().replace("\n", "\n  ")
        lines.append(f"{name}:\n  {inner}" if "\n" in inner else f"{name}: {text}")
    return clip("\n".join(lines), limit)


def _remarks(turn: TurnResult) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if turn.error is not None:
        found.append(("error", f"{turn.error.code}: {turn.error.message} {turn.error.fix}"))
    found += [(fault.severity, f"{fault.message} {fault.fix}") for fault in turn.faults]
    found += [("caveat", caveat) for caveat in turn.caveats]
    found += [(f"{approval.kind} approval", approval_text(approval)) for approval in turn.approvals.values()]
    found += [("file", f"{change.path} {change.change} ({change.size:,} bytes)") for change in turn.files]
    return [(name, line(text, 600)) for name, text in found]
