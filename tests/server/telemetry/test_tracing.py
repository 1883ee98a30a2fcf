"""Traces: the tree of a turn's spans, what they say, and what they never hold without consent."""

import asyncio
import json
from collections.abc import Callable, Generator, Sequence

import logfire
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError

from agent.models.scripted import call
from agent.turn.request import TurnRequest
from flows.catalogue import Catalogue
from flows.document import Flow
from server.telemetry.tracing import RECEIVERS, configure_traces, is_traced
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import Step, play, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
WORDS = "a pelican on the pier"
SECRET = "sk-verysecret0123456789"
PLACE = "/srv/private/place.py"


class Traces:
    """The spans that were received so far."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()

    def begin(self, *, content: bool = False) -> None:
        """Have turns traced, with their content or without."""
        configure_traces(content=content, processors=[SimpleSpanProcessor(self._exporter)])

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        """Finished spans, in the order in which they ended."""
        done = self._exporter.get_finished_spans()
        return [span for span in done if (span.attributes or {}).get("logfire.span_type") != "pending_span"]

    def named(self, *beginnings: str) -> list[ReadableSpan]:
        """The spans whose name begins so."""
        return [span for span in self.spans if span.name.startswith(beginnings)]

    def above(self, span: ReadableSpan) -> list[str]:
        """The names of the spans that a span is in, the nearest first."""
        by_id = {one.context.span_id: one for one in self.spans if one.context is not None}
        found: list[str] = []
        while span.parent is not None and span.parent.span_id in by_id:
            span = by_id[span.parent.span_id]
            found.append(span.name)
        return found

    @property
    def everything(self) -> str:
        """All that was received, as one text."""
        return "\n".join(span.to_json() for span in self.spans)


@pytest.fixture
def traces() -> Generator[Traces]:
    """What receives the spans of a test; afterwards nothing is traced any more."""
    yield Traces()
    Agent.instrument_all(False)
    configure_traces(content=False, traced=False)


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


async def ran_turn(catalogue: Catalogue, canvas: Flow) -> None:
    """A turn that reads a value, runs the flow and answers."""
    runner = StandInRunner(results=[ran(f"{WORDS} came out")])
    look = call("get_field_value", 1, component_id=node_id(canvas, "Prompt Template"), field="template")
    run = call("run_flow", 2, input=WORDS)
    who, _ = scripted_assistant(catalogue, "build_flow", look, run, f"I ran it; it gave: {WORDS}", runner=runner)
    result = await play(who, f"Run it with {WORDS}", canvas)
    assert result.outcome == "complete", result.error


async def test_the_spans_of_a_turn_stand_in_one_tree(catalogue: Catalogue, canvas: Flow, traces: Traces) -> None:
    traces.begin()
    await ran_turn(catalogue, canvas)
    [turn] = traces.named("turn")
    assert turn.parent is None
    [intent] = [span for span in traces.spans if span.name == "intent"]
    assert traces.above(intent) == ["turn"]
    [run] = [span for span in traces.spans if span.name == "run"]
    first, *rest = traces.above(run)
    assert "run_flow" in first
    assert rest[-1] == "turn"
    tools = [span for span in traces.spans if "gen_ai.tool.name" in (span.attributes or {})]
    names = [str((span.attributes or {})["gen_ai.tool.name"]) for span in tools]
    assert [name for name in names if "classification" not in name] == ["get_field_value", "run_flow"]
    assert all(traces.above(tool)[-1] == "turn" for tool in tools)
    assert len({span.context.trace_id for span in traces.spans if span.context}) == 1


async def test_spans_tell_outcomes_durations_and_what_a_turn_cost(
    catalogue: Catalogue, canvas: Flow, traces: Traces
) -> None:
    traces.begin()
    await ran_turn(catalogue, canvas)
    [turn], [run] = traces.named("turn"), [span for span in traces.spans if span.name == "run"]
    told = turn.attributes or {}
    assert (told["intent"], told["outcome"], told["conversation"], told["provider"]) == (
        "build_flow", "complete", "default", "scripted",
    )  # fmt: skip
    assert told["requests"] == 4
    for direction in ("input_tokens", "output_tokens"):
        assert isinstance(told[direction], int)
        assert told[direction] > 0
    assert ((run.attributes or {})["outcome"], (run.attributes or {})["nodes"]) == ("ok", 3)
    asked = [span for span in traces.spans if "gen_ai.usage.input_tokens" in (span.attributes or {})]
    assert len(asked) >= 4, "each request to a model tells its tokens"


async def test_no_content_is_traced_without_consent(catalogue: Catalogue, canvas: Flow, traces: Traces) -> None:
    traces.begin()
    await ran_turn(catalogue, canvas)
    for content in (WORDS, "Say it louder", "came out", "You are Wirewright"):
        assert content not in traces.everything


async def test_content_is_traced_with_consent(catalogue: Catalogue, canvas: Flow, traces: Traces) -> None:
    traces.begin(content=True)
    await ran_turn(catalogue, canvas)
    for content in (WORDS, "Say it louder", "came out"):
        assert content in traces.everything


def fails(failure: Exception) -> Callable[..., str]:
    """A model that raises."""

    def reply(*_: object) -> str:
        raise failure

    return reply


FAILURES: list[Exception] = [
    ModelHTTPError(401, "gpt-x", {"message": f"Incorrect API key provided: {SECRET}. See {WORDS}"}),
    OSError(f"{SECRET} is not in {PLACE}: {WORDS}"),
    ValueError(f"{WORDS} {SECRET} {PLACE}"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("classifying", [True, False], ids=["classifying", "acting"])
async def test_a_failure_is_marked_and_leaks_nothing(
    catalogue: Catalogue, canvas: Flow, traces: Traces, failure: Exception, classifying: bool
) -> None:
    traces.begin()
    replies: list[Step] = [fails(failure)] if classifying else ["build_flow", fails(failure)]
    who, _ = scripted_assistant(catalogue, *replies)
    result = await play(who, f"Do {WORDS}", canvas)
    assert result.error is not None
    [turn] = traces.named("turn")
    told = turn.attributes or {}
    assert (told["outcome"], told["error_type"], told["error_code"]) == (
        "error", type(failure).__name__, result.error.code,
    )  # fmt: skip
    assert turn.status.status_code is StatusCode.ERROR
    for content in (WORDS, SECRET, PLACE, "Traceback", __file__):
        assert content not in traces.everything


async def test_a_failing_tool_leaks_nothing_either(catalogue: Catalogue, canvas: Flow, traces: Traces) -> None:
    class Broken(StandInRunner):
        async def execute(self, *_: object, **__: object) -> None:
            raise OSError(f"{SECRET} is not in {PLACE}")

    traces.begin()
    who, _ = scripted_assistant(catalogue, "run_flow", call("run_flow", 1, input=WORDS), runner=Broken())
    result = await play(who, "Run it", canvas)
    assert result.outcome == "error"
    [run] = [span for span in traces.spans if span.name == "run"]
    assert run.status.status_code is StatusCode.ERROR
    for content in (WORDS, SECRET, PLACE, "Traceback", __file__):
        assert content not in traces.everything


async def test_every_span_ends_when_a_turn_is_left(catalogue: Catalogue, canvas: Flow, traces: Traces) -> None:
    traces.begin()
    runner = StandInRunner(hangs=True)
    who, _ = scripted_assistant(catalogue, "run_flow", call("run_flow", 1, input="x"), runner=runner)
    async with who.turn(TurnRequest(text="Run it", flow=canvas)) as events:

        async def read() -> None:
            async for _ in events:
                pass

        reading = asyncio.create_task(read())
        await runner.running.wait()
        assert traces.named("turn") == []
        reading.cancel()
        await asyncio.wait([reading])
    [turn] = traces.named("turn")
    assert [span.name for span in traces.spans if span.name in {"intent", "run"}] == ["intent", "run"]
    assert turn.end_time is not None
    assert (turn.attributes or {})["outcome"] == "cancelled"
    assert "Traceback" not in traces.everything


def test_who_receives_traces_is_found_in_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.chdir(str(tmp_path))
    assert not is_traced({})
    assert not is_traced(dict.fromkeys(RECEIVERS, " "))
    for name in RECEIVERS:
        assert is_traced({name: "x"})


async def test_spans_that_nobody_receives_are_not_made(catalogue: Catalogue, canvas: Flow, traces: Traces) -> None:
    traces.begin()
    configure_traces(content=False, traced=False)
    with logfire.span("turn") as span:
        assert not span.is_recording()
    await ran_turn(catalogue, canvas)
    assert traces.spans == []


def test_a_trace_is_readable_by_machines(traces: Traces) -> None:
    traces.begin()
    with logfire.span("turn", conversation="s"):
        pass
    assert json.loads(traces.spans[0].to_json())["name"] == "turn"
