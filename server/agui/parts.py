"""The events of a PydanticAI agent's run as those of AG-UI."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import fields
from typing import Any
from uuid import uuid4

from pydantic_ai import (
    AgentStreamEvent,
    CustomEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)

from server.agui.behaviour import AguiConfig, ToolBehavior, ToolCallContext, ToolResultContext, outcome, shared
from server.agui.run_input import RESULT_ID, RunInput

Made = dict[str, Any]


class AgentEvents:
    """Turns the events of one run into AG-UI's.

    A call is ended when its arguments are complete, and its result comes after that: clients of version 1.0 take a
    result for a call that is still open as one that was never finished.

    Args:
        run: what the client sent.
        config: the hooks of tools.

    Attributes:
        known: the calls that an earlier run has told.
    """

    def __init__(self, run: RunInput, config: AguiConfig) -> None:
        self._run, self._config = run, config
        self.known = set[str]()
        self._text = self._thought = ""
        self._calls: dict[str, None] = {}
        self._arguments: dict[str, Mapping[str, Any]] = {}

    async def of(self, event: AgentStreamEvent) -> AsyncGenerator[Made]:
        """The events that one event becomes."""
        match event:
            case FunctionToolCallEvent(part=part):
                async for one in self._called(part):
                    yield one
            case FunctionToolResultEvent():
                async for one in self._returned(event):
                    yield one
            case _:
                for one in self._part(event):
                    yield one

    def _part(self, event: AgentStreamEvent) -> list[Made]:
        match event:
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                return self._spoken(text)
            case PartStartEvent(part=ThinkingPart(content=text)):
                return self._thinking(text)
            case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))):
                return self._thinking(text)
            case PartStartEvent(part=ToolCallPart() as part):
                return self._call(part)
            case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=delta, tool_call_id=str(call))) if delta:
                return [_arguments(call, _written(delta))]
            case PartEndEvent():
                return self.close()
            case CustomEvent() if event.ui:
                return [{"type": "CUSTOM", "name": event.name, "value": _payload(event)}]
            case _:
                return []

    def close(self) -> list[Made]:
        """End what is open."""
        made: list[Made] = []
        if self._text:
            made.append({"type": "TEXT_MESSAGE_END", "messageId": self._text})
        if self._thought:
            made.append({"type": "REASONING_MESSAGE_END", "messageId": self._thought})
            made.append({"type": "REASONING_END", "messageId": self._thought})
        made += [{"type": "TOOL_CALL_END", "toolCallId": call} for call in self._calls]
        self._text = self._thought = ""
        self._calls.clear()
        return made

    def _spoken(self, text: str) -> list[Made]:
        made: list[Made] = []
        if not self._text:
            made, self._text = self.close(), uuid4().hex
            made.append({"type": "TEXT_MESSAGE_START", "messageId": self._text, "role": "assistant"})
        return [*made, {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._text, "delta": text}] if text else made

    def _thinking(self, text: str) -> list[Made]:
        made: list[Made] = []
        if not self._thought:
            made, self._thought = self.close(), uuid4().hex
            made.append({"type": "REASONING_START", "messageId": self._thought})
            made.append({"type": "REASONING_MESSAGE_START", "messageId": self._thought, "role": "reasoning"})
        told = {"type": "REASONING_MESSAGE_CONTENT", "messageId": self._thought, "delta": text}
        return [*made, told] if text else made

    def _call(self, part: ToolCallPart) -> list[Made]:
        call = part.tool_call_id
        made = [*self.close(), {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": part.tool_name}]
        self._calls[call] = None
        self.known.add(call)
        return [*made, _arguments(call, _written(part.args))] if part.args else made

    async def _called(self, part: ToolCallPart) -> AsyncGenerator[Made]:
        call = part.tool_call_id
        if call not in self.known:  # a model that does not stream
            for one in [*self._call(part), *self.close()]:
                yield one
        self._arguments[call] = part.args_as_dict()
        context = ToolCallContext(
            run=self._run, tool_name=part.tool_name, tool_call_id=call, arguments=self._arguments[call]
        )
        state = await outcome(self._behavior(part.tool_name).state_from_args, context)
        if state is not None:
            yield {"type": "STATE_SNAPSHOT", "snapshot": shared(state)}

    async def _returned(self, event: FunctionToolResultEvent) -> AsyncGenerator[Made]:
        part = event.part
        call, name, message = part.tool_call_id, part.tool_name or "", f"{RESULT_ID}{part.tool_call_id}"
        if any(one.tool_call_id == call for one in self._run.messages if one.role == "tool"):
            return  # a tool of the front end, which has its result
        content = part.model_response_str()
        told = {"type": "TOOL_CALL_RESULT", "messageId": message, "toolCallId": call, "role": "tool"}
        yield {**told, "content": content}
        context = ToolResultContext(
            run=self._run,
            tool_name=name,
            tool_call_id=call,
            arguments=self._arguments.get(call, {}),
            result=part.content,
            message_id=message,
        )
        state = await outcome(self._behavior(name).state_from_result, context)
        if state is not None:
            yield {"type": "STATE_SNAPSHOT", "snapshot": shared(state)}

    def _behavior(self, tool: str) -> ToolBehavior:
        return self._config.tool_behaviors.get(tool, ToolBehavior())


def _arguments(call: str, delta: str) -> Made:
    return {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": delta}


def _written(arguments: str | Mapping[str, Any]) -> str:
    """Arguments as the model wrote them, which may be the beginning of JSON only."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _payload(event: CustomEvent) -> Any:
    """What an event of the application says: its own fields."""
    known = {field.name for field in fields(CustomEvent)}
    return {field.name: getattr(event, field.name) for field in fields(event) if field.name not in known}
