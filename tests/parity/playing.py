"""Playing turns for the parity tests: over HTTP with a script, or with a model that remembers what it was asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent.assistant import Assistant
from agent.models.scripted import scripted, tool_returns
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from flows.spec import build
from runtime.engine.component_results import ComponentDescription, ComponentFailure
from tests.server.live import Reply, assistant, events, says, serving
from tests.stand_ins import StandInRunner

ECHO = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"
AGENT = (
    "name: Helper\nnodes:\n  a: ChatInput\n  g: Agent\n  b: ChatOutput\n"
    "edges:\n  a.message -> g.input_value\n  g.response -> b.input_value\n"
)


def long_flow(steps: int) -> str:
    """A spec with so many alike steps between a chat input and a chat output."""
    names = [f"s{number}" for number in range(steps)]
    nodes = ["  a: ChatInput", *(f"  {name}: CombineText" for name in names), "  b: ChatOutput"]
    chain = ["a.message", *(f"{name}.combined_text" for name in names)]
    edges = [f"  {begin} -> {name}.text1" for begin, name in zip(chain, names, strict=False)]
    config = [f"  {name}.text2: x" for name in names]
    return "\n".join(["nodes:", *nodes, "edges:", *edges, f"  {chain[-1]} -> b.input_value", "config:", *config])


def made(spec: str, catalogue: Catalogue) -> Flow:
    """The flow of a spec that has no errors."""
    built = build(spec, catalogue)
    assert built.flow is not None, built.faults
    return built.flow


def node_id(flow: Flow, type: str) -> str:
    """The id of the first node of a type."""
    return next(node.id for node in flow.nodes if node.type == type)


SUM = """\
from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.message import Message


class SumComponent(Component):
    display_name = "Sum"
    description = "Adds two numbers."
    inputs = [MessageTextInput(name="numbers", display_name="Numbers", info="Such as 1+2.", tool_mode=True)]
    outputs = [Output(display_name="Total", name="total", method="add_numbers")]

    def add_numbers(self) -> Message:
        return Message(text=str(sum(int(part) for part in self.numbers.split("+"))))
"""
"""The source of a component that passes."""


@dataclass(eq=False)
class MakingRunner(StandInRunner):
    """A stand-in engine that also makes components: each with one input and one output.

    Attributes:
        refusals: why the next sources are not made, in order.
    """

    refusals: list[ComponentFailure] = field(default_factory=list[ComponentFailure])

    async def describe_component(self, source: str, name: str) -> ComponentDescription | ComponentFailure:
        """The component of a source, or the next refusal."""
        if self.refusals:
            return self.refusals.pop(0)
        numbers: JsonObject = {"type": "str", "name": "numbers", "show": True, "input_types": ["Message"], "value": ""}
        total: JsonObject = {"name": "total", "method": "add_numbers", "types": ["Message"], "selected": "Message"}
        node: JsonObject = {
            "display_name": "Sum",
            "description": "Adds two numbers.",
            "template": {"_type": "Component", "code": {"type": "code", "value": source}, "numbers": numbers},
            "outputs": [total],
            "base_classes": ["Message"],
        }
        return ComponentDescription(node)


async def played(
    catalogue: Catalogue,
    replies: Sequence[Reply | str],
    *,
    runner: StandInRunner | None = None,
    canvas: Flow | None = None,
    **request: object,
) -> list[dict[str, Any]]:
    """The events of one turn over HTTP, with a model that gives these replies, the classification first."""
    if canvas is not None:
        request["flow"] = canvas.to_json()
    async with serving(assistant(catalogue, says(replies), runner)) as live:
        return await events(live.client, **{"input_value": "Go on", **request})


def updates(found: Sequence[dict[str, Any]], action: str | None = None) -> list[dict[str, Any]]:
    """The flow updates among events, or those of one action."""
    return [event for event in found if event["event"] == "flow_update" and action in (None, event["action"])]


def steps(found: Sequence[dict[str, Any]]) -> list[str]:
    """The steps of the progress events."""
    return [str(event["step"]) for event in found if event["event"] == "progress"]


@dataclass
class Listening:
    """A model that gives replies in turn, the classification first, and keeps what it was asked.

    Attributes:
        replies: what it gives.
        asked: the messages of every request.
        settings: the settings of every request.
    """

    replies: list[list[ToolCallPart | TextPart]]
    asked: list[list[ModelMessage]] = field(default_factory=list[list[ModelMessage]])
    settings: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @classmethod
    def to(cls, *replies: Reply | str) -> "Listening":
        """The model that gives these replies; a string is a text."""
        return cls([[TextPart(reply)] if isinstance(reply, str) else list(reply) for reply in replies])

    def model(self) -> FunctionModel:
        """The model itself."""

        def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            self.asked.append(list(messages))
            self.settings.append(dict(info.model_settings or {}))
            return ModelResponse(parts=self.replies.pop(0))

        return scripted(plan, "listening")

    def told(self, request: int) -> list[str]:
        """What the tools had answered when a request was made."""
        return [str(part.content) for part in tool_returns(self.asked[request])]


async def turn(who: Assistant, text: str = "", **request: Any) -> TurnResult:
    """What one turn comes to."""
    async with who.turn(TurnRequest(text=text, **request)) as stream:
        told = [event async for event in stream]
    assert isinstance(told[-1], TurnEnded)
    return told[-1].result
