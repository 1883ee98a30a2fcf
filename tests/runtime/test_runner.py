"""Runs on the real engine: what comes out, what is kept apart, and what is left when a run goes wrong."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from flows.json_values import as_object
from runtime.install.environment import RunnerEnvironment
from runtime.results import RunResult
from runtime.runner import Runner
from tests.processes.ends import ends
from tests.runtime.unguarded import run_unguarded

MakeFlow = Callable[..., Flow]
MakeCode = Callable[[str], JsonObject]
pytestmark = [pytest.mark.anyio, pytest.mark.engine]


# Write to whatever descriptor can be written: one of them is where the run's result goes.
WRITE = """
for fd in range(3, 60):
    try: os.write(fd, b'{}')
    except OSError: pass
os._exit(0)
"""


def exists(path: object) -> bool:
    return Path(str(path)).exists()


async def doing(runner: Runner, data: JsonObject, *, timeout: float = 30.0, text: str | None = None) -> RunResult:
    return await run_unguarded(runner, data, text, timeout=timeout, want_nodes=True)


async def still_works(runner: Runner, echo: Flow) -> bool:
    return (await runner.run(echo, "still here")).output == "still here"


@pytest.mark.parity("base-term-run-flow", "term-run-flow")
async def test_the_chat_outputs_text_comes_back_when_a_flow_echoes(runner: Runner, echo: Flow) -> None:
    result = await runner.run(echo, "hi\n\nthere “ünï”", want_nodes=True)
    assert result.error is None
    assert result.output == "hi\n\nthere “ünï”"
    assert result.outputs == {"ChatOutput-b": result.output}
    assert result.nodes == {"ChatInput-a": result.output, "ChatOutput-b": result.output}
    assert result.metrics.seconds > 0
    assert result.metrics.peak_mb > 0
    assert result.metrics.total_tokens == 0


async def test_values_in_the_flow_are_kept_when_no_text_is_given(runner: Runner, make_flow: MakeFlow) -> None:
    flow = make_flow(
        {"ChatInput-a": ("ChatInput", {"input_value": "kept"}), "ChatOutput-b": "ChatOutput"},
        [("ChatInput-a", "message", "ChatOutput-b", "input_value")],
    )
    assert (await runner.run(flow)).output == "kept"
    assert (await runner.run(flow, "")).output == ""


async def test_the_text_goes_to_text_inputs_when_there_is_no_chat_input(runner: Runner, make_flow: MakeFlow) -> None:
    flow = make_flow(
        {"TextInput-a": "TextInput", "TextOutput-b": "TextOutput"},
        [("TextInput-a", "text", "TextOutput-b", "input_value")],
    )
    result = await runner.run(flow, "typed")
    assert result.output is None
    assert result.outputs == {"TextOutput-b": "typed"}


async def test_ids_of_any_form_are_the_keys_of_the_outputs(runner: Runner, make_flow: MakeFlow) -> None:
    flow = make_flow({"in": "ChatInput", "answer": "ChatOutput"}, [("in", "message", "answer", "input_value")])
    result = await runner.run(flow, "hello")
    assert result.output == "hello"
    assert dict(result.outputs) == {"answer": "hello"}


@pytest.mark.parametrize(("text", "taken"), [("yes", "ChatOutput-t"), ("no", "ChatOutput-f")])
async def test_only_the_branch_that_was_taken_gives_an_output(
    runner: Runner, make_flow: MakeFlow, text: str, taken: str
) -> None:
    flow = make_flow(
        {
            "ChatInput-a": "ChatInput",
            "ConditionalRouter-r": (
                "ConditionalRouter",
                {"match_text": "yes", "operator": "equals", "true_case_message": "T", "false_case_message": "F"},
            ),
            "ChatOutput-t": "ChatOutput",
            "ChatOutput-f": "ChatOutput",
        },
        [
            ("ChatInput-a", "message", "ConditionalRouter-r", "input_text"),
            ("ConditionalRouter-r", "true_result", "ChatOutput-t", "input_value"),
            ("ConditionalRouter-r", "false_result", "ChatOutput-f", "input_value"),
        ],
    )
    result = await runner.run(flow, text)
    assert result.error is None
    assert result.output == {"yes": "T", "no": "F"}[text]
    assert set(result.outputs) == {taken}


async def test_the_text_goes_to_the_webhook_when_there_is_no_other_input(runner: Runner, make_flow: MakeFlow) -> None:
    result = await runner.run(make_flow({"Webhook-a": "Webhook"}), '{"n": 1}')
    assert result.error is None
    assert result.outputs == {"Webhook-a": {"n": 1}}


async def test_a_session_has_no_memory_of_the_warm_up_or_of_other_runs(runner: Runner, make_flow: MakeFlow) -> None:
    flow = make_flow({"ChatInput-a": "ChatInput", "Memory-m": "Memory"})
    results = [await runner.run(flow, "remember this", session="one") for _ in range(2)]
    assert [result.error for result in results] == [None, None]
    assert "warm" not in json.dumps([dict(result.outputs) for result in results])


async def test_several_outputs_of_a_node_come_back_by_port(runner: Runner, make_flow: MakeFlow) -> None:
    flow = make_flow({"MockDataGenerator-a": "MockDataGenerator"})
    value = as_object((await runner.run(flow)).outputs["MockDataGenerator-a"])
    assert set(value) == {"dataframe_output", "message_output", "data_output"}
    assert any(isinstance(rows, list) and isinstance(rows[0], dict) for rows in value.values())
    assert json.dumps(value, allow_nan=False)


async def test_a_run_is_neither_the_servers_nor_the_engines_process(
    started_engine: Runner, make_code: MakeCode
) -> None:
    runner = started_engine
    started: list[int] = []
    data = make_code('return Data(data={"pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0)})')
    result = await run_unguarded(runner, data, on_started=started.append)
    [seen] = result.outputs.values()
    value = as_object(seen)
    assert started == [value["pid"]]
    assert value["pid"] not in {os.getpid(), runner.engine_pid}
    assert value["parent"] == runner.engine_pid
    assert value["session"] == value["pid"]


async def test_the_next_run_works_when_one_sleeps_forever(runner: Runner, make_code: MakeCode, echo: Flow) -> None:
    pids: list[int] = []
    sleeping = run_unguarded(runner, make_code("time.sleep(3600)"), timeout=0.5, on_started=pids.append)
    result, answered = await asyncio.gather(sleeping, still_works(runner, echo))
    assert result.error is not None
    assert result.error.code == "timeout"
    assert "0.5 s" in result.error.message
    assert answered
    assert await ends(pids[0])


@pytest.mark.parametrize(
    "body",
    [
        "os._exit(3)",
        "os._exit(0)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os.kill(os.getpid(), signal.SIGSEGV)",
        WRITE.format("garbage"),
        WRITE.format("garbage\\n"),
        WRITE.format("[1]\\n"),
        WRITE.format('{{"output": NaN}}\\n'),
        "import ctypes; ctypes.string_at(0)",
        "os.closerange(0, 200); time.sleep(0.1)",
    ],
)
async def test_the_run_is_a_crash_and_the_next_one_works_when_its_process_ends_hard(
    runner: Runner, make_code: MakeCode, echo: Flow, body: str
) -> None:
    result = await doing(runner, make_code(body))
    assert result.error is not None
    assert result.error.code == "crash"
    assert await still_works(runner, echo)


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("raise ValueError('the third column is missing a title')", "code", "the third column"),
        ("raise KeyError('colour')", "code", "KeyError: 'colour'"),
        ("1 / 0", "code", "ZeroDivisionError"),
        ("import nothing_of_that_name", "missing_package", "nothing_of_that_name"),
        ("raise ValueError('An API key is required')", "missing_key", "API key"),
        ("import httpx; httpx.get('http://127.0.0.1:9', timeout=5)", "refused", "private network"),
        ("sys.exit(4)", "code", "4"),
        ("raise KeyboardInterrupt", "code", ""),
        ("def deep(): return deep()\ndeep()", "code", "RecursionError"),
        ("raise RuntimeError(f'no file /home/someone/{os.getpid()}/x.txt, key sk-abcdefghijklmnop')", "code", "x.txt"),
    ],
)
async def test_errors_are_classified_and_name_the_node_when_a_component_raises(
    runner: Runner, make_code: MakeCode, body: str, code: str, words: str
) -> None:
    result = await doing(runner, make_code(body))
    assert result.error is not None
    assert result.error.code == code
    assert words in result.error.message
    assert result.error.node == "CustomComponent-x"
    assert "Error building" not in result.error.message
    for secret in ("/home/", "sk-abc", "Traceback"):
        assert secret not in result.error.message


async def test_the_node_is_named_when_its_code_cannot_be_loaded(runner: Runner, make_code: MakeCode) -> None:
    data = json.loads(json.dumps(make_code("pass")).replace("import os,", "import nothing_here, os,"))
    result = await doing(runner, data)
    assert result.error is not None
    assert (result.error.code, result.error.node) == ("missing_package", "CustomComponent-x")


async def test_what_a_component_prints_is_not_an_answer(runner: Runner, make_code: MakeCode) -> None:
    body = """print('{"id": 1, "type": "result"}' * 10000)
sys.stderr.write("noise" * 100000)
os.system("echo noise; echo noise >&2")
return Data(data={"ok": True})"""
    result = await doing(runner, make_code(body))
    assert result.error is None
    assert list(result.outputs.values()) == [{"ok": True}]


async def test_a_run_sees_only_the_allowed_environment_and_its_own_folders(
    runner_environment: RunnerEnvironment, make_code: MakeCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVER_SECRET", "s3cret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-server")
    body = """open(Path.home() / "mine", "w").write("x")
import tempfile
def is_open(fd):
    try: return bool(os.fstat(fd))
    except OSError: return False
held = [fd for fd in range(1024) if is_open(fd)]
return Data(data={"env": dict(os.environ), "home": str(Path.home()), "tmp": tempfile.gettempdir(), "fds": len(held),
                  "stdin": sys.stdin.read(), "cwd": os.getcwd()})"""
    async with Runner(runner_environment) as own:
        result = await doing(own, make_code(body))
        [seen] = result.outputs.values()
        value = as_object(seen)
        environment = as_object(value["env"])
        assert "s3cret" not in json.dumps(value)
        assert "sk-secret" not in json.dumps(value)
        assert environment["DO_NOT_TRACK"] == "1"
        assert value["home"] != str(Path.home())
        assert value["home"] == environment["HOME"]
        assert value["cwd"] == "."  # the working folder, whose own name is left out of results
        assert value["tmp"] == environment["TMPDIR"]
        assert value["stdin"] == ""
        assert isinstance(value["fds"], int)
        assert value["fds"] < 16  # three standard ones, the connection, and those of an event loop
        # The private folder goes when the process is collected, which the answer to a later request shows.
        for _ in range(100):
            if not exists(value["home"]):
                break
            await doing(own, make_code("return Data(data={})"))
        assert not exists(value["home"])


async def test_nothing_outlives_its_run_when_it_forks_away(runner: Runner, make_code: MakeCode) -> None:
    body = """read, write = os.pipe()
try:
    child = os.fork()
except OSError:
    return Data(data={"refused": True})
if child == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(write, str(os.getpid()).encode())
        while True: time.sleep(60)
    os._exit(0)
return Data(data={"pid": int(os.read(read, 20))})"""
    result = await doing(runner, make_code(body))
    [value] = result.outputs.values()
    outcome = as_object(value)
    if outcome.get("refused"):  # where the kernel lets a run be kept from forking, there is nothing to outlive it
        return
    await doing(runner, make_code("return Data(data={})"))
    pid = outcome["pid"]
    assert isinstance(pid, int)
    assert await ends(pid)


async def test_cancelling_ends_the_runs_process(runner: Runner, make_code: MakeCode, echo: Flow) -> None:
    begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    data = make_code("time.sleep(3600)")
    task = asyncio.create_task(run_unguarded(runner, data, timeout=600, on_started=begun.set_result))
    pid = await begun
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await still_works(runner, echo)
    assert await still_works(runner, echo)
    assert await ends(pid)


async def test_a_run_may_give_back_megabytes_and_more_is_a_limit(runner: Runner, make_code: MakeCode) -> None:
    result = await doing(runner, make_code('return Data(data={"text": "x" * 5_000_000})'))
    [value] = result.outputs.values()
    assert len(str(as_object(value)["text"])) == 5_000_000
    result = await doing(runner, make_code('return Data(data={"text": "x" * 40_000_000})'))
    assert result.error is not None
    assert result.error.code == "limit"


async def test_large_flows_run_when_they_take_megabytes(runner: Runner, make_flow: MakeFlow) -> None:
    text = "long " * 1_000_000
    flow = make_flow(
        {"ChatInput-a": ("ChatInput", {"input_value": text}), "ChatOutput-b": "ChatOutput"},
        [("ChatInput-a", "message", "ChatOutput-b", "input_value")],
    )
    assert (await runner.run(flow)).output == text


async def test_odd_values_come_back_as_json(runner: Runner, make_code: MakeCode) -> None:
    body = """import datetime, decimal, numpy, pandas
class Secretive:
    def __repr__(self): return "sk-secret"
return Data(data={"nan": float("nan"), "set": {1}, "bytes": b"b", "when": datetime.date(2026, 1, 2),
    "thing": Secretive(), "int64": numpy.int64(3), "table": pandas.DataFrame({"a": [1, 2]}),
    "message": Message(text="m"),
    1: "key", "half": "\\ud800"})"""
    result = await doing(runner, make_code(body))
    [value] = result.outputs.values()
    assert value == {
        "nan": None, "set": [1], "bytes": "b", "when": "2026-01-02", "thing": {"type": "Secretive"}, "int64": 3,
        "table": [{"a": 1}, {"a": 2}], "message": "m", "1": "key", "half": "?",
    }  # fmt: skip


async def test_runs_keep_nothing_from_one_another(runner: Runner, make_code: MakeCode) -> None:
    body = """import lfx
lfx.left = getattr(lfx, "left", 0) + 1
return Data(data={"n": lfx.left})"""
    values = [await doing(runner, make_code(body)) for _ in range(3)]
    assert [dict(each.outputs) for each in values] == [{"CustomComponent-x": {"n": 1}}] * 3


async def test_many_runs_at_once_all_end_with_their_own_answer(runner: Runner, echo: Flow) -> None:
    results = await asyncio.gather(*(runner.run(echo, f"text {n}") for n in range(12)))
    assert [result.output for result in results] == [f"text {n}" for n in range(12)]


async def test_the_engine_is_replaced_when_it_is_killed(runner: Runner, make_code: MakeCode, echo: Flow) -> None:
    first = runner.engine_pid
    assert first is not None
    begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    data = make_code("time.sleep(3600)")
    task = asyncio.create_task(run_unguarded(runner, data, timeout=600, on_started=begun.set_result))
    await begun
    os.kill(first, 9)
    result = await task
    assert result.error is not None
    assert result.error.code == "crash"
    assert await still_works(runner, echo)
    assert runner.engine_pid not in {None, first}


@pytest.mark.parity("ADR-MCP-040", "scenario-run-refuses-unsafe")
async def test_a_flow_with_other_code_or_a_model_is_an_error_and_does_not_run(
    runner: Runner, make_flow: MakeFlow, make_code: MakeCode, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    data = make_code(f"open({str(canary)!r}, 'w').close()")
    result = await runner.run(Flow.from_json(data))
    assert result.error is not None
    assert (result.error.code, result.error.node) == ("refused", "CustomComponent-x")
    assert not canary.exists()
    result = await runner.run(make_flow({"LanguageModelComponent-m": "LanguageModelComponent"}))
    assert result.error is not None
    assert (result.error.code, result.error.node) == ("missing_model", "LanguageModelComponent-m")


async def test_the_catalogues_own_code_is_admitted(runner: Runner, installed_catalogue: Catalogue) -> None:
    assert len(installed_catalogue) > 130
    assert installed_catalogue.get("ext:openai:OpenAIModelComponent@official") is not None
    assert runner.state == "ready"


def test_help_shows_no_variable_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", "import pydoc, wirewright; print(pydoc.render_doc(wirewright.Runner))"],
        env={**os.environ, "OPENAI_API_KEY": "sk-only-in-the-environment"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    assert "class Runner" in shown
    assert "sk-only-in-the-environment" not in shown
