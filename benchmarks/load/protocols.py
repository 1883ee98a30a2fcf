"""What a protocol costs beside our own stream: the same events of a turn, or answers of tools, as frames of each."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time

from agent.contract.details import StartedEvent, ToolCallEvent, ToolResultEvent
from agent.contract.events import CompleteData, CompleteEvent, Event, ProgressEvent, TokenEvent, read_event
from flows.document import Flow
from server.json_response import json_bytes
from server.mcp.answers import FlowAnswer, FlowRef
from server.mcp.bench import progress_text
from server.mcp.perform import Outcome
from server.streams.agui import AguiTranslation
from server.streams.aisdk import AisdkTranslation
from server.streams.sse import line_of
from tools.events import Progress

ROUNDS = 21
TURNS = 20
"""Turns of a round."""

WORDS = 400
CALLS = 20


def events() -> list[Event]:
    """What a turn of many words and some calls tells."""
    told: list[Event] = [
        ProgressEvent(step="generating", attempt=1, max_attempts=1, message="Reading your request..."),
        StartedEvent(session_id="s", flow=Flow.empty()),
    ]
    for at in range(CALLS):
        arguments = {"component_id": f"Prompt-{at}", "values": {"template": "Answer in one sentence."}}
        told.append(ToolCallEvent(tool_call_id=f"c{at}", tool_name="configure_component", arguments=arguments))
        told.append(ToolResultEvent(tool_call_id=f"c{at}", tool_name="configure_component", content="Set the text."))
    told += [TokenEvent(chunk=" word") for _ in range(WORDS)]
    return [*told, CompleteEvent(data=CompleteData(result=" word" * WORDS))]


def own(lines: list[bytes]) -> int:
    """The frames of our own stream, in bytes."""
    return sum(len(line_of(line)) for line in lines)


def agui(lines: list[bytes]) -> int:
    """The frames of AG-UI, in bytes."""
    translation, size = AguiTranslation("s", "r"), 0
    for line in lines:
        event = read_event(line)
        size += sum(map(len, [] if event is None else translation.frames(event)))
    return size


def aisdk(lines: list[bytes]) -> int:
    """The frames of the AI SDK, in bytes."""
    translation, size = AisdkTranslation("t", "s", "t"), 0
    for line in lines:
        event = read_event(line)
        size += sum(map(len, [] if event is None else translation.frames(event)))
    return size


def reading(lines: list[bytes]) -> int:
    """The events read again, without any frame."""
    return sum(read_event(line) is not None for line in lines)


def answers() -> list[tuple[Progress, FlowAnswer]]:
    """What the calls of a turn tell an MCP client, whose own model writes the words."""
    flow = FlowRef(id="f", name="F", version=1, node_count=3, edge_count=2, uri="wirewright://flows/f")
    progress = Progress(step="validating", message="Checking the flow...")
    return [(progress, FlowAnswer(text="Set the text.", flow=flow)) for _ in range(CALLS)]


def own_answers(told: list[tuple[Progress, FlowAnswer]]) -> int:
    """The same answers in our own stream, in bytes."""
    return sum(len(line_of(json_bytes(one))) for _, one in told)


def mcp(told: list[tuple[Progress, FlowAnswer]]) -> int:
    """What the MCP package is given to send, in bytes."""
    size = 0
    for progress, answer in told:
        outcome = Outcome.of("configure_component", answer)
        size += len(progress_text(progress)) + len(outcome.text) + len(json_bytes(outcome.data))
    return size


def measure() -> str:
    """Frame the events of a turn in each way, alternately."""
    lines, told = [json_bytes(event) for event in events()], answers()
    ways: dict[str, tuple[Callable[[], int], int]] = {
        "own": (lambda: own(lines), len(lines)),
        "AG-UI": (lambda: agui(lines), len(lines)),
        "AI SDK": (lambda: aisdk(lines), len(lines)),
        "reading": (lambda: reading(lines), len(lines)),
        "own answers": (lambda: own_answers(told), 2 * len(told)),
        "MCP": (lambda: mcp(told), 2 * len(told)),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, (way, count) in ways.items():
            before = process_time()
            for _ in range(TURNS):
                way()
            taken[name].append((process_time() - before) * 1e6 / (TURNS * count))
    figures = {name: median(row[1:]) for name, row in taken.items()}
    beside = {"AG-UI": "own", "AI SDK": "own", "MCP": "own answers"}
    more = {
        name: f"{figures[name]:.1f} in {name}, {figures[name] - figures[other]:.1f} beyond"
        for name, other in beside.items()
    }
    return (
        f"an event as a frame: {figures['own']:.1f} µs in our own stream, {'; '.join(more.values())} "
        f"(target: at most 4), of which {figures['reading']:.1f} read it again"
    )
