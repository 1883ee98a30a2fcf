"""The law of the translation: whatever a turn tells, its chunks are a stream that the AI SDK accepts."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.contract.details import ReasoningEvent, RemarkEvent, StartedEvent, ToolCallEvent, ToolResultEvent
from agent.contract.endings import cancelled, failed
from agent.contract.events import CompleteData, CompleteEvent, Event, FileWrittenEvent, ProgressEvent, TokenEvent
from agent.contract.questions import PlanQuestion, SecretQuestion
from agent.turn.result import TurnError
from flows.document import Flow
from server.streams.aisdk import DONE, AisdkTranslation
from server.streams.message_parts import OUTPUT_CHARACTERS

Chunk = dict[str, Any]
calls = st.sampled_from(["a", "b", "c"])
texts = st.text(max_size=20)
events = st.one_of(
    st.builds(TokenEvent, chunk=texts),
    st.builds(ReasoningEvent, chunk=texts, is_new=st.booleans()),
    st.builds(RemarkEvent, chunk=texts, is_new=st.booleans()),
    st.builds(
        ToolCallEvent,
        tool_call_id=calls,
        tool_name=st.sampled_from(["run_flow", "read_file", "mine"]),
        arguments=st.fixed_dictionaries({"path": texts}),
    ),
    st.builds(
        ToolResultEvent,
        tool_call_id=st.sampled_from(["a", "b", "c", "unknown"]),
        tool_name=st.just("run_flow"),
        content=texts,
        is_error=st.booleans(),
        denied=st.sampled_from([None, True]),
    ),
    st.builds(ProgressEvent, step=st.just("generating"), attempt=st.just(1), max_attempts=st.just(3), message=texts),
    st.builds(StartedEvent, session_id=st.just("s"), flow=st.just(Flow.empty("F"))),
    st.just(FileWrittenEvent(action="run_flow", path="a.png", size=1, content="", url="/api/v1/files/a.png")),
)
questions = st.lists(
    st.one_of(
        st.builds(PlanQuestion, id=st.sampled_from(["a", "b", "elsewhere"]), markdown=texts),
        st.builds(SecretQuestion, id=st.just("key-1"), use=st.just("keep"), title=texts),
    ),
    max_size=3,
    unique_by=lambda one: one.id,
)
endings = st.one_of(
    st.builds(
        CompleteEvent,
        data=st.builds(
            CompleteData,
            result=texts,
            approvals=st.one_of(st.none(), questions.filter(bool)),
            proposal=st.sampled_from([None, Flow.empty("F")]),
            proposal_id=st.sampled_from([None, "proposal-1"]),
        ),
    ),
    st.just(failed(TurnError(code="x", message="It failed.", fix="Try again."))),
    st.just(cancelled()),
)
turns = st.tuples(st.lists(events, max_size=12), endings)


def chunks(frames: list[bytes]) -> list[Chunk]:
    assert frames[-1] == DONE
    sent = [frame.removeprefix(b"data: ") for frame in frames[:-1]]
    assert all(frame.endswith(b"\n\n") and frame.count(b"\n") == 2 for frame in sent)
    return [json.loads(frame) for frame in sent]


def check(seen: list[Chunk], known: set[str]) -> None:
    """What the AI SDK's clients enforce, and what ours rely on."""
    assert [chunk["type"] for chunk in seen].count("start") == 1
    assert seen[0]["type"] == "start"
    parts, approvals, steps = dict[str, str](), set[str](), 0
    for at, chunk in enumerate(seen):
        kind = chunk["type"]
        assert None not in chunk.values(), "optional fields are absent, never null"
        if kind in ("text-start", "reasoning-start"):
            assert not parts, "a text and a thought are never open at the same time"
            parts[chunk["id"]] = kind.partition("-")[0]
        elif kind in ("text-delta", "reasoning-delta"):
            assert parts[chunk["id"]] == kind.partition("-")[0]
        elif kind in ("text-end", "reasoning-end"):
            del parts[chunk["id"]]
        elif kind == "start-step":
            steps += 1
        elif kind == "finish-step":
            steps -= 1
        elif kind == "tool-input-available":
            known.add(chunk["toolCallId"])
        elif kind.startswith("tool-"):
            assert chunk["toolCallId"] in known, "clients refuse what comes of a call that they do not have"
            if kind == "tool-approval-request":
                approvals.add(chunk["approvalId"])
            else:
                approvals.discard(chunk["toolCallId"])
        assert steps in (0, 1)
        if kind in ("finish", "abort"):
            assert at == len(seen) - 1
            assert not parts
    assert seen[-1]["type"] in ("finish", "abort")
    if seen[-1].get("finishReason") == "stop":
        assert not approvals


@pytest.mark.parity("aisdk-sse", "aisdk-reasoning", "aisdk-files")
@settings(max_examples=40)
@given(turns)
def test_every_turn_is_a_stream_that_clients_accept(turn: tuple[list[Event], Event]) -> None:
    told, ending = turn
    translation = AisdkTranslation("t", "s", "t", client_tools=["mine"])
    frames = [frame for event in [*told, ending] for frame in translation.frames(event)]
    check(chunks(frames), set())


@pytest.mark.parity("aisdk-tool-states")
@settings(max_examples=40)
@given(turns, st.dictionaries(calls, st.booleans()))
def test_a_message_that_goes_on_has_what_the_client_knows(
    turn: tuple[list[Event], Event], answered: dict[str, bool]
) -> None:
    told, ending = turn
    known: dict[str, object] = {"a": {}, "b": {"path": ""}, **{call: {} for call in answered}}
    translation = AisdkTranslation("m_1", "s", "m", known=known, answered=answered)
    frames = [frame for event in [*told, ending] for frame in translation.frames(event)]
    seen = chunks(frames)
    check(seen, set(known))
    if not (isinstance(ending, CompleteEvent) and ending.data.approvals):
        results = {chunk["toolCallId"] for chunk in seen if chunk["type"].startswith("tool-output-")}
        assert set(answered) <= results, "no answer is left open, or clients would send it for ever"


@settings(max_examples=40)
@given(st.lists(turns, min_size=2, max_size=3))
def test_the_turns_of_a_message_are_one_stream(several: list[tuple[list[Event], Event]]) -> None:
    translation = AisdkTranslation("m_1", "s", "m", turns=len(several))
    every = [event for told, ending in several for event in [*told, ending]]
    frames = [frame for event in every for frame in translation.frames(event)]
    assert frames.count(DONE) == 1
    check(chunks(frames), set())


@settings(max_examples=40)
@given(turns)
def test_a_stream_that_is_cut_ends_with_an_error(turn: tuple[list[Event], Event]) -> None:
    told, _ = turn
    translation = AisdkTranslation("t", "s", "t")
    frames = [frame for event in told for frame in translation.frames(event)]
    seen = chunks([*frames, *translation.cut()])
    assert (seen[0]["type"], seen[-1]["type"]) == ("start", "error")


def test_long_results_are_cut() -> None:
    translation = AisdkTranslation("t", "s", "t")
    translation.frames(ToolCallEvent(tool_call_id="a", tool_name="check_flow", arguments={}))
    [frame] = translation.frames(ToolResultEvent(tool_call_id="a", tool_name="check_flow", content="x" * 9_000))
    assert json.loads(frame.removeprefix(b"data: "))["output"] == "x" * OUTPUT_CHARACTERS + "…"
