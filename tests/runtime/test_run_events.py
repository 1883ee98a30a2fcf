"""What a run tells while it goes on, tweaks, limits of loops, and types of values, on the real engine."""

import asyncio
from collections.abc import Callable

import pytest
from inline_snapshot import snapshot

from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from flows.json_values import as_list, as_object, object_at
from flows.spec import build
from runtime.engine.runs import event_filter
from runtime.engine.runs.event_filter import event_of
from runtime.event_stream import run_events
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.run_events import EventKind, EventsCut, NodeFinished, NodeStarted, NodeToken, RunEvent
from runtime.runner import Runner
from tests.runtime.unguarded import run_unguarded, unguarded_events

MakeFlow = Callable[..., Flow]
MakeCode = Callable[[str], JsonObject]
pytestmark = [pytest.mark.anyio, pytest.mark.engine]

LOOP = """name: Loop
nodes:
  a: ChatInput
  s: SplitText
  l: LoopComponent
  p: ParserComponent
  t: ParserComponent
  b: ChatOutput
edges:
  a.message -> s.data_inputs
  s.dataframe -> l.data
  l.item -> p.input_data
  p.parsed_text -> l.item
  l.done -> t.input_data
  t.parsed_text -> b.input_value
config:
  s.separator: ","
  s.chunk_size: 1
  s.chunk_overlap: 0
  p.pattern: "<{text}>"
  t.pattern: "{text}"
"""


@pytest.fixture(scope="module")
def loop(installed_catalogue: Catalogue) -> tuple[Flow, dict[str, str]]:
    """A flow that wraps each part of a text in a loop, and its node ids by their names in the spec."""
    built = build(LOOP, installed_catalogue)
    assert built.flow is not None, built.faults
    return built.flow, dict(built.ids)


async def test_every_node_is_reported_as_it_begins_and_ends_and_then_comes_the_result(
    runner: Runner, echo: Flow
) -> None:
    async with run_events(runner.execute, echo, "hi", RunOptions()) as stream:
        items = [item async for item in stream]
    events = [item for item in items if isinstance(item, NodeStarted | NodeFinished)]
    assert [(event.event, event.node) for event in events] == snapshot(
        [
            ("node_started", "ChatInput-a"),
            ("node_finished", "ChatInput-a"),
            ("node_started", "ChatOutput-b"),
            ("node_finished", "ChatOutput-b"),
        ]
    )
    assert all(event.iteration == 1 for event in events)
    assert all(event.ok for event in events if isinstance(event, NodeFinished))
    [result] = [item for item in items if isinstance(item, RunResult)]
    assert items[-1] is result
    assert result.output == "hi"


@pytest.mark.parametrize("kinds", [("node_started",), ("node_finished", "waiting"), ("token",), ()])
async def test_events_of_kinds_that_are_not_wanted_never_leave_the_runs_process(
    kinds: tuple[EventKind, ...],
    runner: Runner,
    loop: tuple[Flow, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crossed: list[str] = []

    def watched(line: bytes) -> "JsonObject | None":
        event = event_of(line)
        crossed.append(str((event or {}).get("kind")))
        return event

    monkeypatch.setattr(event_filter, "event_of", watched)
    events: list[RunEvent] = []
    result = await runner.run(loop[0], "one,two", on_event=events.append, event_kinds=kinds)
    assert result.error is None
    assert set(crossed) == {kind for kind in kinds if kind in {"node_started", "node_finished"}}
    assert [event.event for event in events] == crossed


async def test_the_node_that_fails_is_reported_as_failed(runner: Runner, make_code: MakeCode) -> None:
    events, result = await unguarded_events(runner, make_code("raise ValueError('no')"))
    assert result.error is not None
    assert [event.event for event in events] == ["node_started", "node_finished"]
    assert [event.ok for event in events if isinstance(event, NodeFinished)] == [False]


async def test_nodes_inside_a_loop_are_reported_each_time_and_the_rows_come_out(
    runner: Runner, loop: tuple[Flow, dict[str, str]]
) -> None:
    flow, ids = loop
    events: list[RunEvent] = []
    result = await runner.run(flow, "one,two,three", on_event=events.append)
    assert result.error is None
    assert result.output is not None
    assert [f"<{word}>" in result.output for word in ("one", "two", "three")] == [True] * 3
    inner = [event.iteration for event in events if isinstance(event, NodeFinished) and event.node == ids["p"]]
    assert inner == [1, 2, 3]


async def test_a_loop_over_more_rows_than_a_run_allows_is_a_limit(
    runner: Runner, loop: tuple[Flow, dict[str, str]]
) -> None:
    flow, ids = loop
    fits = await runner.run(flow, ",".join("ab"), max_iterations=2)
    assert fits.error is None
    result = await runner.run(flow, ",".join("abc"), max_iterations=2)
    assert result.error is not None
    assert (result.error.code, result.error.node) == ("limit", ids["p"])
    assert "2 times" in result.error.message


async def test_a_circle_that_never_ends_is_a_limit(runner: Runner, make_flow: MakeFlow) -> None:
    flow = make_flow(
        {
            "a": "ChatInput",
            "c": "CombineText",
            "r": (
                "ConditionalRouter",
                {"match_text": "never", "operator": "equals", "max_iterations": 10**6, "default_route": "false_result"},
            ),
            "b": "ChatOutput",
        },
        [
            ("a", "message", "c", "text1"),
            ("c", "combined_text", "r", "input_text"),
            ("r", "false_result", "c", "text2"),
            ("r", "true_result", "b", "input_value"),
        ],
    )
    document = flow.to_json()
    for node in map(as_object, as_list(as_object(document["data"])["nodes"])):
        for output in map(as_object, as_list(object_at(node, "data", "node").get("outputs"))):
            output["allows_loop"] = node["id"] == "c"  # without it, the engine never begins a circle
    result = await runner.run(Flow.from_json(document), "x", max_iterations=25, timeout=60)
    assert result.error is not None
    assert (result.error.code, result.error.node) == ("limit", "c")
    assert "25 times" in result.error.message


async def test_pieces_of_text_are_reported_under_their_node_in_order(runner: Runner, make_code: MakeCode) -> None:
    body = """for piece in ("Hel", "lo, ", "wörld"):
    self._event_manager.on_token(data={"chunk": piece, "id": "m"})
self._event_manager.on_token(data={"chunk": "x" * 50_000, "id": "m"})
self._event_manager.on_message(data={"anything": object()})
return Data(data={})"""
    events, result = await unguarded_events(runner, make_code(body))
    assert result.error is None
    tokens = [event for event in events if isinstance(event, NodeToken)]
    assert {event.node for event in tokens} == {"CustomComponent-x"}
    assert "".join(event.text for event in tokens) == "Hello, wörld" + "x" * 50_000
    assert max(len(event.text) for event in tokens) <= 2048


# Write to whatever socket is open: the run's own connection is one of them.
FORGE = """import stat
for fd in range(3, 60):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, {line} * {times})
    except OSError: pass
return Data(data={{"real": True}})"""


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "other", "type": "result", "output": "forged"}\n',
        b"no json\n",
        b'{"kind": "node_started"}\n',
        b'{"kind":"token","node":1,"text":"forged"}\n',
        b'{"kind":"' + b"x" * 20_000 + b'"}\n',
        b"[" * 20_000 + b"\n",
    ],
)
async def test_whatever_a_run_writes_is_no_event_unless_it_is_one(
    runner: Runner, make_code: MakeCode, line: bytes
) -> None:
    events, result = await unguarded_events(runner, make_code(FORGE.format(line=line, times=1)))
    assert result.error is None
    assert list(result.outputs.values()) == [{"real": True}]
    assert [event.event for event in events] == ["node_started", "node_finished"]


@pytest.mark.parametrize(
    ("line", "times"),
    [
        (b'{"type":"result"\n', 1),
        (b'{"type":"result","output":"x","outputs":{},"failure":null,"files":[["../x",-1]]}\n', 1),
        (b'{"type":"result","files":[["a",999999999]]}\n', 1),
        (b'{"type":"result","files":{"a":1}}\n' + b"[" * 100_000, 1),
        (b'{"type":"result",' + b"x" * 1_000_000, 40),
        (b"x" * 100_000 + b"\n", 900),
    ],
)
async def test_a_run_that_writes_what_is_no_result_harms_itself_alone(
    runner: Runner, make_code: MakeCode, echo: Flow, line: bytes, times: int
) -> None:
    told_by_one, answered = await asyncio.gather(
        unguarded_events(runner, make_code(FORGE.format(line=line, times=times))), runner.run(echo, "mine")
    )
    assert answered.output == "mine"
    assert told_by_one[1].output is None
    assert told_by_one[1].files == ()
    assert (await runner.run(echo, "next")).output == "next"


async def test_a_run_that_tells_without_end_is_cut_off_and_still_gives_its_result(
    runner: Runner, make_code: MakeCode, echo: Flow
) -> None:
    body = """for number in range(30_000):
    self._event_manager.on_token(data={"chunk": "x" * 1000, "id": "m"})
return Data(data={"real": True})"""
    events, result = await unguarded_events(runner, make_code(body))
    assert list(result.outputs.values()) == [{"real": True}]
    assert isinstance(events[-1], EventsCut)
    assert sum(len(event.text) for event in events if isinstance(event, NodeToken)) <= 4 * 1024 * 1024
    assert (await runner.run(echo, "next")).output == "next"


async def test_leaving_the_stream_ends_the_run(runner: Runner, make_flow: MakeFlow, echo: Flow) -> None:
    slow = make_flow({"a": "ChatInput", "l": "ChatOutput"}, [("a", "message", "l", "input_value")])
    async with run_events(runner.execute, slow, "x", RunOptions()) as stream:
        async for item in stream:
            assert isinstance(item, RunEvent)
            break
    assert [item async for item in stream] == []
    assert (await runner.run(echo, "next")).output == "next"


async def test_nothing_runs_when_a_stream_is_not_read(runner: Runner) -> None:
    started: list[int] = []

    async def start(flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        started.append(1)
        raise AssertionError

    async with run_events(start, Flow.empty(), None, RunOptions()):
        await asyncio.sleep(0)
    assert started == []


async def test_values_for_one_run_take_the_place_of_the_flows_own(runner: Runner, make_flow: MakeFlow) -> None:
    flow = make_flow(
        {"a": "ChatInput", "c": ("CombineText", {"text2": "old", "delimiter": "-"}), "b": "ChatOutput"},
        [("a", "message", "c", "text1"), ("c", "combined_text", "b", "input_value")],
    )
    result = await runner.run(flow, "x", tweaks={"c": {"text2": "new", "delimiter": "+"}})
    assert result.output == "x+new"
    assert (await runner.run(flow, "x")).output == "x-old"


@pytest.mark.parametrize(
    ("tweaks", "words"),
    [
        ({"nobody": {"text2": "x"}}, "nobody"),
        ({"c": {"colour": "red"}}, "colour"),
        ({"c": {"code": "import os\n\nos.system('id')\n"}}, "code"),
    ],
)
async def test_a_tweak_that_does_not_fit_is_refused_and_nothing_runs(
    runner: Runner, make_flow: MakeFlow, tweaks: dict[str, JsonObject], words: str
) -> None:
    flow = make_flow({"c": "CombineText", "b": "ChatOutput"}, [("c", "combined_text", "b", "input_value")])
    events: list[RunEvent] = []
    result = await runner.run(flow, tweaks=tweaks, on_event=events.append)
    assert result.error is not None
    assert result.error.code == "refused"
    assert words in result.error.message
    assert events == []


async def test_each_value_has_the_type_that_it_had_in_the_flow(
    runner: Runner, make_flow: MakeFlow, make_code: MakeCode
) -> None:
    result = await runner.run(make_flow({"m": "MockDataGenerator"}))
    assert result.types == {"m": {"dataframe_output": "DataFrame", "message_output": "Message", "data_output": "Data"}}
    result = await runner.run(
        make_flow({"a": "ChatInput", "b": "ChatOutput"}, [("a", "message", "b", "input_value")]), "x"
    )
    assert result.types == {"b": "Message"}
    result = await runner.run(
        make_flow({"a": "ChatInput", "b": "ChatOutput"}, [("a", "message", "b", "input_value")]), "x", want_nodes=True
    )
    assert result.types == {"a": "Message", "b": "Message"}
    kinds = {"1": "Number", "'t'": "Text", "[1, 2]": "List[Number]", "{'k': 1}": "Object", "None": "None"}
    for value, kind in kinds.items():
        _, given = await unguarded_events(runner, make_code(f"return {value}"))
        assert list(given.types.values()) == [kind]


async def test_the_flow_sees_the_session_it_was_given_or_one_of_its_own(runner: Runner, make_code: MakeCode) -> None:
    data = make_code('return Data(data={"session": self.graph.session_id})')
    seen: list[object] = []
    for session in ("mine", None, "  ", None):
        result = await run_unguarded(runner, data, session=session)
        [value] = result.outputs.values()
        seen.append(as_object(value)["session"])
    assert seen[0] == "mine"
    assert len(set(seen)) == 4
    assert all(seen)


@pytest.mark.parametrize(
    ("body", "code"), [("time.sleep(60)", "timeout"), ("os.kill(os.getpid(), signal.SIGKILL)", "crash")]
)
async def test_a_run_that_ends_without_a_result_still_has_its_figures(
    runner: Runner, make_code: MakeCode, body: str, code: str
) -> None:
    result = await run_unguarded(runner, make_code(body), timeout=0.7 if code == "timeout" else 30)
    assert result.error is not None
    assert result.error.code == code
    assert result.metrics.seconds > 0
    assert result.metrics.peak_mb > 0
