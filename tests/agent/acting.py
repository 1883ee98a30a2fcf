"""Turns for tests: an assistant that follows a script, and its turns played to their results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.messages import UserPromptPart
from pydantic_ai.models.function import AgentInfo

from agent.assistant import Assistant
from agent.conversation.memory import Memory
from agent.models.scripted import scripted
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from tests.stand_ins import StandInRunner

ECHO = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"
LOUDER = """name: Louder
nodes:
  a: ChatInput
  p: Prompt Template
  b: ChatOutput
edges:
  a.message -> p.text
  p.prompt -> b.input_value
config:
  p.template: "Say it louder: {text}"
"""

Reply = str | ToolCallPart | Sequence[ToolCallPart | TextPart]
Scripted = Reply | Callable[[list[ModelMessage], AgentInfo], Reply]


@dataclass
class Script:
    """A model that gives its replies in turn and remembers what it was shown.

    Attributes:
        replies: what it says; a function says it by what it is shown.
        prompts: the last user prompt of each request.
        tools: the names of the tools of each request.
        shown: all messages of each request.
    """

    replies: list[Scripted]
    prompts: list[str] = field(default_factory=list[str])
    tools: list[set[str]] = field(default_factory=list[set[str]])
    shown: list[list[ModelMessage]] = field(default_factory=list[list[ModelMessage]])

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        """The next reply."""
        self.shown.append(list(messages))
        self.tools.append({tool.name for tool in info.function_tools})
        prompts = [
            part.content
            for message in messages
            for part in message.parts
            if isinstance(part, UserPromptPart) and isinstance(part.content, str)
        ]
        self.prompts.append(prompts[-1] if prompts else "")
        reply = self.replies.pop(0)
        if not isinstance(reply, str | ToolCallPart | Sequence):
            reply = reply(messages, info)
        if isinstance(reply, str):
            return ModelResponse(parts=[TextPart(reply)])
        return ModelResponse(parts=[reply] if isinstance(reply, ToolCallPart) else list(reply))


def follows(
    catalogue: Catalogue,
    *replies: Scripted,
    runner: StandInRunner | None = None,
    memory: Memory | None = None,
    **settings: Any,
) -> tuple[Assistant, Script]:
    """An assistant that follows a script, and the script.

    Args:
        catalogue: the component types.
        replies: what the model says, the classification first.
        runner: runs flows.
        memory: keeps conversations.
        settings: of the assistant.
    """
    script = Script(list(replies))
    who = Assistant(
        AssistantSettings(**settings),
        runner or StandInRunner(),
        catalogue=catalogue,
        model=scripted(script, "scripted"),
        memory=memory,
    )
    return who, script


async def play(who: Assistant, text: str = "", flow: Flow | None = None, **request: Any) -> TurnResult:
    """One turn, to its result."""
    return (await play_all(who, text, flow, **request))[1]


async def play_all(
    who: Assistant, text: str = "", flow: Flow | None = None, **request: Any
) -> tuple[list[TurnEvent], TurnResult]:
    """One turn: its events, and its result."""
    async with who.turn(TurnRequest(text=text, flow=flow, **request)) as stream:
        events = [event async for event in stream]
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return events, last.result


def built(catalogue: Catalogue, spec: str = LOUDER) -> Flow:
    """The flow of a spec."""
    flow = build(spec, catalogue).flow
    assert flow is not None
    return flow


def id_of(flow: Flow, type: str) -> str:
    """The id of the first component of a type."""
    return next(node.id for node in flow.nodes if node.type == type)
