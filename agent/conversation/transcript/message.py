"""Makes the message of a transcript from the result of its turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolApproved, ToolCallPart, ToolReturnPart

from agent.conversation.memory import Exchange
from agent.conversation.transcript.parts import (
    AskedQuestion,
    AssistantText,
    ChangedFile,
    Failure,
    GivenAnswer,
    MadeRun,
    OfferedFlow,
    Part,
    Recorded,
    SaidBeside,
    ToolCall,
    ToolResult,
    TranscriptMessage,
    UserText,
)
from agent.prompts.frames import unframed
from agent.turn.request import Answer, ToolAnswered
from agent.turn.result import TurnResult
from flows.json_values import JsonObject
from tools.replies import clip

TEXT: Final = 20_000
"""Characters that are kept of what tools and runs gave, and of what was said in a message beyond `LIMIT`."""

LIMIT: Final = 1_000_000
"""Characters of a message, as JSON; beyond it, flows are left out, and texts and what tools answered are clipped."""

_SHORT: Final = 500


@dataclass(frozen=True, kw_only=True)
class SentMessage:
    """What the user sent.

    Attributes:
        id: the id of the turn.
        text: what the user wrote; empty for answers alone.
        files: the user's files that it is about.
        flow_id: the stored flow that it is about; None without one.
        version: the version of that flow before it; None without one.
    """

    id: str
    text: str
    files: tuple[str, ...] = ()
    flow_id: str | None = None
    version: int | None = None


@dataclass(frozen=True)
class Decided:
    """What the user decided with a message.

    Attributes:
        answers: by approval or proposal.
        wanted: the words in which the user asked for what was denied to be done differently.
        earlier: the agent's messages of the turn that goes on, of which nothing is repeated.
        superseded: the proposals in whose place another flow was put on the canvas.
    """

    answers: Mapping[str, Answer]
    wanted: str = ""
    earlier: Sequence[ModelMessage] = ()
    superseded: Sequence[str] = ()


def transcript_message(
    sent: SentMessage, result: TurnResult, decided: Decided, turns: Iterable[Exchange] = ()
) -> TranscriptMessage:
    """The message with everything that came of it.

    Args:
        sent: what the user sent.
        result: the turn's result.
        decided: what the user decided with it.
        turns: the turns before, whose approvals are not asked again.
    """
    asked_before = {one.call for turn in turns for one in turn.asked}
    parts: list[Part] = []
    if sent.text.strip():
        parts.append(UserText(text=sent.text, files=list(sent.files)))
    parts += _answers(decided.answers, decided.wanted)
    parts += [GivenAnswer(id=call, decision="withdrawn") for call in (*result.withdrawn, *decided.superseded)]
    parts += _tools(result.messages, decided.earlier, result.text)
    parts += [ChangedFile(path=one.path, change=one.change, size=one.size) for one in result.files]
    parts += _runs(result)
    parts += _flows(result)
    known = result.approvals.items()
    parts += [AskedQuestion(id=call, approval=one) for call, one in known if call not in asked_before]
    if result.outcome == "error" and result.error is not None:
        parts.append(Failure(code=result.error.code, message=result.error.message, fix=result.error.fix))
    elif result.outcome == "cancelled":
        parts.append(Failure(code="cancelled", message="The turn was stopped before its end."))
    elif result.text:
        parts.append(AssistantText(text=result.text))
    if result.record.text and (result.record.acted or result.outcome not in {"error", "cancelled"}):
        parts.append(Recorded(text=clip(result.record.text, TEXT), disagrees=result.record.disagrees))
    now = datetime.now(UTC).isoformat()
    made = TranscriptMessage(id=sent.id, at=now, flow_id=sent.flow_id, version=sent.version, parts=parts)
    if len(made.to_json()) <= LIMIT:
        return made
    shorter = [_shortened(part) for part in parts]
    return TranscriptMessage(id=sent.id, at=now, flow_id=sent.flow_id, version=sent.version, parts=shorter)


def _answers(answers: Mapping[str, Answer], wanted: str) -> Iterator[GivenAnswer]:
    for call, answer in answers.items():
        if isinstance(answer, ToolApproved):
            yield GivenAnswer(id=call, decision="changed" if answer.override_args else "approved")
        elif isinstance(answer, ToolAnswered):
            yield GivenAnswer(id=call, decision="approved")
        else:
            reason = wanted or answer.message
            yield GivenAnswer(id=call, decision="changed" if wanted else "denied", reason=clip(reason, _SHORT))


def _tools(messages: Iterable[ModelMessage], earlier: Iterable[ModelMessage], answer: str) -> Iterator[Part]:
    """The calls of tools, what they answered, and what the model said beside them, but for what is the answer."""
    before = [part for message in earlier for part in message.parts]
    called = {part.tool_call_id for part in before if isinstance(part, ToolCallPart)}
    answered = {part.tool_call_id for part in before if isinstance(part, ToolReturnPart)}
    for message in messages:
        calls = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
        is_new = bool(calls) and called.isdisjoint(calls)
        for part in message.parts:
            match part:
                case TextPart(content=text) if is_new and text.strip() and text.strip() != answer.strip():
                    yield SaidBeside(text=clip(text, TEXT))
                case ToolCallPart() if isinstance(message, ModelResponse) and part.tool_call_id not in called:
                    called.add(part.tool_call_id)
                    yield ToolCall(id=part.tool_call_id, tool=part.tool_name, arguments=_arguments(part))
                case ToolReturnPart() if part.tool_call_id not in answered:
                    answered.add(part.tool_call_id)
                    text = clip(unframed(str(part.content)), TEXT)
                    ok = part.outcome == "success"
                    yield ToolResult(id=part.tool_call_id, tool=part.tool_name, content=text, ok=ok)
                case _:
                    pass


def _arguments(part: ToolCallPart) -> JsonObject:
    try:
        given = part.args_as_dict()
    except ValueError:  # a model wrote no JSON, and was told so
        return {"text": clip(part.args_as_json_str(), TEXT)}
    return {name: clip(value, TEXT) if isinstance(value, str) else value for name, value in given.items()}


def _runs(result: TurnResult) -> Iterator[MadeRun]:
    ids = iter([run.run_id for run in result.runs])
    for run in result.record.runs:
        name = next(ids, None) if run.by == "user" else None
        output = None if run.output is None else clip(run.output, TEXT)
        yield MadeRun(id=name, by=run.by, input=run.input, output=output, error=run.error)


def _flows(result: TurnResult) -> Iterator[OfferedFlow]:
    if result.proposal is not None:
        flow = result.proposal
        yield OfferedFlow(id=result.proposal_id, name=flow.name, status="offered", flow=flow.raw)
    elif result.record.proposal is not None and result.record.proposal.status == "applied":
        yield OfferedFlow(id=None, name=result.record.proposal.flow, status="applied", flow=result.after.raw)


def _shortened(part: Part) -> Part:
    match part:
        case OfferedFlow():
            return part.model_copy(update={"flow": None})
        case UserText() | AssistantText() | SaidBeside():
            return part.model_copy(update={"text": clip(part.text, TEXT)})
        case ToolResult():
            return part.model_copy(update={"content": clip(part.content, _SHORT)})
        case ToolCall():
            return part.model_copy(update={"arguments": {"text": clip(str(part.arguments), _SHORT)}})
        case _:
            return part
