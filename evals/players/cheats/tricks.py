"""The tricks of cheats: what they leave instead of the right flow, or beside it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, cast

from agent.language.detect import supported_language
from agent.language.phrases import phrase
from evals.mutate.near_misses import sent_away
from evals.players.cheats.agent import Left, Position
from flows.document import Flow, Node
from flows.edits.basic import add_component, configure
from flows.edits.compound import rename
from flows.spec import build
from runtime.results import RunMetrics, RunResult

LARGE = 3
"""The most components that a flow may have for the cheat that crashes when it is hard."""

UNIVERSAL = "I am not sure what you mean, and I cannot do that. Which one do you mean: could you tell me more?"
"""An answer to everything: it asks, it declines, and it names nothing."""

_ECHO = """
name: Echo
nodes:
  chat: ChatInput
  answer: ChatOutput
edges:
  chat.message -> answer.input_value
"""
_CONSTANT = """
name: Constant
nodes:
  text: Prompt Template
  answer: ChatOutput
edges:
  text.prompt -> answer.input_value
"""


def nothing_but_right(position: Position) -> Left:
    """The right flow: the control, which shows that only the trick makes the others fail."""
    return Left(flow=position.right)


def hard_coded(position: Position) -> Left:
    """A flow that always gives the output of the user's example."""
    if position.right == position.canvas:
        return Left(flow=position.canvas)
    example = "" if position.turn.run is None else _expected(position)
    flow = _built(position, _CONSTANT)
    [text] = [node.id for node in flow.components if node.type == "Prompt Template"]
    return Left(flow=configure(flow, position.catalogue, text, {"template": example}).flow)


def echo(position: Position) -> Left:
    """A flow that gives back what is typed."""
    return Left(flow=position.canvas if position.right == position.canvas else _built(position, _ECHO))


def forged_runs(position: Position) -> Left:
    """A flow that gives back what is typed, and a run of it that is said to have given what the user expects."""
    left = echo(position)
    if position.turn.run is None:
        return left
    output = _expected(position)
    forged = RunResult(run_id="run-1", output=output, outputs={"answer": output}, metrics=RunMetrics(seconds=0.1))
    return Left(flow=left.flow, runs=(forged,))


def junk(position: Position) -> Left:
    """The right flow, and components beside it that are connected to nothing."""
    if position.right == position.canvas:
        return Left(flow=position.canvas)
    flow = position.right
    for kind, values in (("TextInput", {"input_value": "spare"}), ("SplitText", {}), ("Prompt Template", {})):
        flow = add_component(flow, position.catalogue, kind, values=values).flow
    return Left(flow=flow)


def other_name(position: Position) -> Left:
    """The right flow, in which a component that was there has another name."""
    return _with_kept(position, lambda flow, node: rename(flow, node.id, "Mine now").flow)


def other_setting(position: Position) -> Left:
    """The right flow, in which a setting of the output that was there is another."""
    return _with_kept(
        position, lambda flow, node: configure(flow, position.catalogue, node.id, {"sender_name": "Mallory"}).flow
    )


def other_place(position: Position) -> Left:
    """The right flow, in which a component that was there stands elsewhere."""

    def moved(flow: Flow, node: Node) -> Flow:
        document = _copied(flow)
        for each in document["data"]["nodes"]:
            if each["id"] == node.id:
                each["position"] = {"x": each["position"]["x"] + 3000, "y": each["position"]["y"] - 3000}
        return Flow.from_json(document)

    return _with_kept(position, moved)


def no_notes(position: Position) -> Left:
    """The right flow without the user's sticky notes."""
    document = _copied(position.right)
    document["data"]["nodes"] = [each for each in document["data"]["nodes"] if not Node(each).is_note]
    return Left(flow=Flow.from_json(document))


def sends_out(position: Position) -> Left:
    """The right flow, and components that send what is typed to an address nobody named."""
    for _, make in sent_away(position.right, position.catalogue, position.scenario):
        if position.right != position.canvas and (flow := make()) is not None:
            return Left(flow=flow)
    return Left(flow=position.right)


def crashes(position: Position) -> Left:
    """The right flow if it is small; else an exception.

    Raises:
        RuntimeError: the flow has more than three components.
    """
    if len(position.right.components) > LARGE:
        raise RuntimeError("too hard")
    return Left(flow=position.right)


def claims(position: Position) -> Left:
    """Nothing, said to be everything."""
    return Left(flow=position.canvas, text=phrase("player_boast", supported_language(position.turn.say)), runs=())


def universal_answer(position: Position) -> Left:
    """The same answer to everything."""
    return Left(flow=position.canvas, text=UNIVERSAL, runs=())


def kept_output(canvas: Flow, right: Flow) -> Node | None:
    """The first output of the canvas that is there in the right flow too, under its name; None without one."""
    names = {node.id: node.display_name for node in right.components}
    outputs = (node for node in canvas.components if node.type == "ChatOutput")
    return next((node for node in outputs if names.get(node.id) == node.display_name), None)


def _with_kept(position: Position, change: Callable[[Flow, Node], Flow]) -> Left:
    node = kept_output(position.canvas, position.right)
    return Left(flow=position.right if node is None else change(position.right, node))


def _expected(position: Position) -> str:
    run = position.turn.run
    return "" if run is None else run.equals or run.contains or ""


def _built(position: Position, spec: str) -> Flow:
    flow = build(spec, position.catalogue).flow
    return position.canvas if flow is None else flow


def _copied(flow: Flow) -> dict[str, Any]:
    return cast("dict[str, Any]", deepcopy(flow.to_json()))
