"""The scripted model of a conversation: it classifies and answers each message as its step says."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import cast

from pydantic import JsonValue
from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from agent.models.scripted import call, last_prompt, tool_returns
from agent.prompts.frames import unframed
from evals.conversations.course import EMPTY, ConversationCase, CourseMessage
from evals.players.reading import full_mandate
from evals.players.script import added_id, resolved
from evals.scenario import ScriptStep
from evals.scenarios.flows import spec_ids
from flows.catalogue import Catalogue
from flows.spec import build

ENDED = "Done."
"""What the model answers when its script has ended."""


class ScriptedVoice(FunctionModel):
    """A model that answers by the script of the messages that are worked on.

    Args:
        conversation: gives the names of the nodes on its canvas.
        catalogue: the component types.

    Attributes:
        reached: set when the model is asked to work on a message while it is held.
        held: whether the next answer to a message waits for `released`.
        released: lets it go.
        beyond: how often it was asked for more than its scripts hold.
    """

    def __init__(self, conversation: ConversationCase, catalogue: Catalogue) -> None:
        super().__init__(self._whole, stream_function=self._pieces, model_name="conversation")
        self._catalogue = catalogue
        self._names = dict[str, str]()
        self.learn(conversation.canvas)
        self._turn = 0
        self._active = list[CourseMessage]()
        self._left = dict[int, list[tuple[ScriptStep, ...]]]()
        self._told = dict[int, list[str]]()
        self._asked = dict[int, ScriptStep]()
        self.reached, self.released, self.held, self.beyond = asyncio.Event(), asyncio.Event(), False, 0

    def learn(self, canvas: str | None) -> None:
        """Learn the names of the nodes of a text."""
        if canvas is not None and canvas != EMPTY:
            self._names.update(spec_ids(canvas, self._catalogue))

    def begin(self, messages: Sequence[CourseMessage]) -> None:
        """Take the messages of the next step."""
        self._active = list(messages)
        for message in messages:
            steps = (step if isinstance(step, tuple) else (step,) for step in message.script)
            self._left[id(message)] = list(steps)
            self._told[id(message)] = []

    def sent_text(self, message: CourseMessage) -> str:
        """All that was sent for a message so far."""
        return "\n".join(self._told.get(id(message), ()))

    def unused_answers(self, message: CourseMessage) -> int:
        """How many answers of its script were not asked for."""
        return len(self._left.get(id(message), ()))

    async def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=await self._answer(messages, info))

    async def _pieces(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        for index, part in enumerate(await self._answer(messages, info)):
            if isinstance(part, TextPart):
                yield part.content
            else:
                arguments = part.args_as_json_str()
                yield {index: DeltaToolCall(name=part.tool_name, json_args=arguments, tool_call_id=part.tool_call_id)}

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> list[TextPart | ToolCallPart]:
        message = self._message(last_prompt(messages))
        if info.function_tools and not self.unused_answers(message):
            message = next((one for one in self._active if self.unused_answers(one)), message)
        self._told[id(message)].append("\n".join(_sent(messages)))
        if not info.function_tools:  # the classification
            return [TextPart(_json(_read(message)))]
        if self.held:
            self.held = False
            self.reached.set()
            await self.released.wait()
        for part in tool_returns(messages):
            self._learn_added(part.tool_call_id, unframed(str(part.content)))
        left = self._left[id(message)]
        if not left:
            self.beyond += 1
            return [TextPart(ENDED)]
        return [self._part(step) for step in left.pop(0)]

    def _message(self, prompt: str) -> CourseMessage:
        """The message that a request is about; the prompt of a resumed turn is an earlier one's."""
        found = [one for one in self._active if one.say and one.say.strip() in prompt]
        return found[-1] if found else self._active[0]

    def _part(self, step: ScriptStep) -> TextPart | ToolCallPart:
        if step.tool is None:
            return TextPart(step.say or "")
        self._turn += 1
        arguments = cast("dict[str, JsonValue]", resolved(step.arguments, self._names))
        made = call(step.tool, self._turn, 1, **arguments)
        self._asked[self._turn] = step
        if step.tool == "build_flow" and isinstance(spec := step.arguments.get("spec"), str):
            self._names.update(build(spec, self._catalogue).ids)
        return made

    def _learn_added(self, call_id: str, reply: str) -> None:
        number = call_id.split("_")[2] if call_id.startswith("call_") else ""
        step = self._asked.get(int(number)) if number.isdigit() else None
        added = added_id(reply)
        if step is not None and step.name and added:
            self._names[step.name] = added


def _sent(messages: Sequence[ModelMessage]) -> list[str]:
    """The texts of a request."""
    return [str(getattr(part, "content", "")) for message in messages for part in message.parts]


def _read(message: CourseMessage) -> dict[str, JsonValue]:
    reading = message.reading
    given = reading.mandate if reading.mandate is not None else full_mandate(reading.intent, message.say)
    return {**reading.model_dump(mode="json"), "mandate": {effect: [*targets] for effect, targets in given.items()}}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
