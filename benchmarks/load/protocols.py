"""What a translation costs beside our own stream: the same stored events of a turn as frames of each."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time

from agent.contract.details import StartedEvent, ToolCallEvent, ToolResultEvent
from agent.contract.events import CompleteData, CompleteEvent, Event, ProgressEvent, TokenEvent, read_event
from flows.document import Flow
from server.json_response import json_bytes
from server.streams.agui import AguiTranslation
from server.streams.aisdk import AisdkTranslation
from server.streams.sse import line_of

ROUNDS = 21
TURNS = 20
"""Turns of a round."""

PROTOCOLS = ("AG-UI", "AI SDK")

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


def measure() -> str:
    """Frame the events of a turn in each way, alternately."""
    lines = [json_bytes(event) for event in events()]
    ways: dict[str, Callable[[list[bytes]], int]] = {"own": own, "AG-UI": agui, "AI SDK": aisdk, "reading": reading}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            before = process_time()
            for _ in range(TURNS):
                way(lines)
            taken[name].append((process_time() - before) * 1e6 / (TURNS * len(lines)))
    figures = {name: median(row[1:]) for name, row in taken.items()}
    more = {name: f"{figures[name]:.1f} in {name}, {figures[name] - figures['own']:.1f} beyond" for name in PROTOCOLS}
    return (
        f"an event as a frame: {figures['own']:.1f} µs in our own stream, {'; '.join(more.values())} "
        f"(target: at most 4), of which {figures['reading']:.1f} read it again"
    )
