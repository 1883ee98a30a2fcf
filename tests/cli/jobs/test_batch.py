"""A batch on this machine: on the real engine, gone on with where it was interrupted, and ended at its ceiling."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from cli.errors import BadUsage
from cli.jobs.batch import BatchOptions, LocalBatch
from cli.jobs.inputs import read_inputs
from runtime.database.database import Database
from runtime.options import RunOptions
from runtime.results import RunError, RunMetrics, RunResult
from runtime.usage.log import UsageLog
from tests.cli.conftest import Wirewright

FLOW: dict[str, Any] = {"nodes": [], "edges": []}


class Runs:
    """Runs that fail for some texts, and remember what they were given."""

    def __init__(self, *failing: str) -> None:
        self.failing = set(failing)
        self.given: list[str] = []

    async def __call__(self, text: str | None, _: RunOptions) -> RunResult:
        self.given.append(text or "")
        await asyncio.sleep(0)
        error = RunError(code="crash", message="It broke.") if text in self.failing else None
        metrics = RunMetrics(seconds=0.1, input_tokens=6, output_tokens=4)
        return RunResult(run_id="r", output=text, outputs={}, metrics=metrics, error=error)


def played(folder: Path, runs: Runs, flow: dict[str, Any] = FLOW, places: int = 2, **more: Any) -> dict[str, Any]:
    """A batch of the inputs in a folder; returns its summary."""
    out = folder / "results.jsonl"
    settings: dict[str, Any] = {"ceiling_tokens": None, "estimate": False, "retry_failed": False, **more}
    source = folder / "inputs.jsonl"
    options = BatchOptions(inputs=read_inputs(source), source=source, out=out, as_json=True, **settings)

    async def work() -> dict[str, Any]:
        database = Database(f"sqlite+aiosqlite:///{folder / 'w.db'}", folder)
        usage = UsageLog(database)
        try:
            batch = LocalBatch(options, flow)
            return {**await batch.run(runs, RunOptions(), places, usage)}
        finally:
            await usage.aclose()
            await database.aclose()

    return asyncio.run(work())


def inputs(folder: Path, *texts: str) -> None:
    (folder / "inputs.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in texts))


def states(folder: Path) -> list[tuple[int, str]]:
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [(line["position"], line["state"]) for line in lines]


def test_what_is_done_is_not_run_again_and_what_has_failed_only_when_asked(tmp_path: Path) -> None:
    inputs(tmp_path, "a", "b", "c", "d")
    first = Runs("b")
    summary = played(tmp_path, first)
    assert (summary["ok"], summary["done"], summary["failed"], summary["tokens"]) == (False, 3, 1, 40)
    assert states(tmp_path) == [(0, "done"), (1, "failed"), (2, "done"), (3, "done")]
    assert played(tmp_path, again := Runs())["failed"] == 1
    assert again.given == []
    assert played(tmp_path, again, retry_failed=True)["ok"]
    assert again.given == ["b"]


def test_a_batch_goes_on_after_an_interruption_in_the_middle_of_a_line(tmp_path: Path) -> None:
    inputs(tmp_path, "a", "b", "c")
    played(tmp_path, Runs())
    out = tmp_path / "results.jsonl"
    lines = out.read_text().splitlines(keepends=True)
    out.write_text(lines[0] + lines[1][:20])
    played(tmp_path, runs := Runs())
    assert sorted(runs.given) == ["b", "c"]
    assert states(tmp_path) == [(0, "done"), (1, "done"), (2, "done")]


def test_results_of_other_inputs_or_another_flow_do_not_count(tmp_path: Path) -> None:
    inputs(tmp_path, "a", "b")
    played(tmp_path, Runs())
    inputs(tmp_path, "a", "other")
    played(tmp_path, runs := Runs())
    assert runs.given == ["other"]
    played(tmp_path, runs := Runs(), {**FLOW, "name": "Other"})
    assert sorted(runs.given) == ["a", "other"]


def test_nothing_is_begun_beyond_the_ceiling_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    inputs(tmp_path, *"abcdefgh")
    summary = played(tmp_path, Runs(), ceiling_tokens=30)
    assert 30 <= summary["tokens"] <= 40
    assert summary["waiting"] == 8 - summary["done"]
    assert "as many tokens" in summary["reason"]
    assert played(tmp_path, Runs(), ceiling_tokens=1_000)["done"] == 8


@pytest.mark.parametrize("line", ["7", "[", '{"input_value": 7}', "null", '["a"]'])
def test_a_line_that_is_no_input_is_named(tmp_path: Path, line: str, wirewright: Wirewright) -> None:
    (tmp_path / "inputs.jsonl").write_text(f'"a"\n{line}\n')
    batch = ("--batch", tmp_path / "inputs.jsonl", "--out", tmp_path / "out.jsonl", "--json")
    done = wirewright("flow", "run", "echo.flow", *batch)
    assert (done.code, done.json["error"]["code"]) == (2, "bad_input")
    assert "line 2: " in done.json["error"]["message"]


def test_wrong_lines_are_named_with_their_keys_and_nothing_is_run(tmp_path: Path, wirewright: Wirewright) -> None:
    wrong = [{"input_val": "typo"}, {}, {"input_value": 7}, 7, {"foo": 1, "input_value": "a"}, {"x": 1}, {"y": 1}]
    (tmp_path / "inputs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in ["a", *wrong]))
    batch = ("--batch", tmp_path / "inputs.jsonl", "--out", tmp_path / "out.jsonl", "--json")
    done = wirewright("flow", "run", "echo.flow", *batch)
    said = done.json["error"]["message"]
    assert (done.code, done.json["error"]["where"], (tmp_path / "out.jsonl").exists()) == (2, "--batch", False)
    assert "7 lines of " in said
    assert "line 2: An input has no key 'input_val'. It has: input_value, tweaks, session_id" in said
    assert "line 3: An input has at least one of" in said
    assert "line 4: input_value: Input should be a valid string" in said
    assert "line 5: this is neither a string nor an object; line 6: An input has no key 'foo'" in said
    assert "line 7" not in said
    assert said.endswith(" and 2 more.")


def test_a_file_of_inputs_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path, wirewright: Wirewright) -> None:
    def refused(*more: str | Path) -> tuple[int, str, str]:
        done = wirewright("flow", "run", "echo.flow", "--batch", tmp_path / "inputs.jsonl", *more, "--json")
        return done.code, done.json["error"]["where"], done.json["error"]["message"]

    assert refused() == (2, "--batch", f"{tmp_path / 'inputs.jsonl'} does not exist.")
    (tmp_path / "inputs.jsonl").write_bytes(b'"caf\xe9"\n')
    assert refused() == (2, "--batch", f"{tmp_path / 'inputs.jsonl'} is not UTF-8 text (byte 4).")
    inputs(tmp_path, "a")
    assert refused("--out", tmp_path)[:2] == (2, "--out")
    assert refused("--out", tmp_path / "out", "--input", "b")[:2] == (2, "--input")


def test_a_batch_says_how_far_it_is_and_how_to_go_on_when_it_is_interrupted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs(tmp_path, "a", "b", "c")

    class Interrupted(Runs):
        async def __call__(self, text: str | None, options: RunOptions) -> RunResult:
            if len(self.given) == 2:
                signal.raise_signal(signal.SIGINT)
                await asyncio.Event().wait()
            return await super().__call__(text, options)

    with pytest.raises(KeyboardInterrupt):
        played(tmp_path, Interrupted(), places=1)
    said = " ".join(capsys.readouterr().err.split())
    assert "0 of 3 inputs have ended, 1 running; 0 tokens" in said
    assert "2 of 3 inputs have ended; their results are in " in said
    assert "The same command goes on with the rest." in said
    assert played(tmp_path, runs := Runs())["ok"]
    assert runs.given == ["c"]
    assert "2 of 3 inputs have ended already." in capsys.readouterr().err


def test_results_of_a_server_are_not_taken_for_those_of_this_machine(tmp_path: Path) -> None:
    inputs(tmp_path, "a")
    theirs = '{"position":0,"state":"done","result":null,"error":null,"attempts":1}\n'
    (tmp_path / "results.jsonl").write_text(theirs)
    with pytest.raises(BadUsage, match="no results of a batch on this machine"):
        played(tmp_path, Runs())
    assert (tmp_path / "results.jsonl").read_text() == theirs


def test_options_of_a_batch_need_one_and_a_batch_needs_a_file_for_its_results(
    tmp_path: Path, wirewright: Wirewright
) -> None:
    inputs(tmp_path, "a")
    assert wirewright("flow", "run", "f", "--retry-failed", "--json").json["error"]["where"] == "--retry-failed"
    alone = wirewright("flow", "run", "f", "--batch", tmp_path / "inputs.jsonl", "--json")
    assert (alone.code, alone.json["error"]["where"]) == (2, "--out")
    (tmp_path / "notes.txt").write_text("something else")
    with pytest.raises(Exception, match="holds no results"):
        source = tmp_path / "inputs.jsonl"
        options = BatchOptions(read_inputs(source), source, tmp_path / "notes.txt", None, False, False, True)
        batch = LocalBatch(options, FLOW)
        asyncio.run(batch.run(Runs(), RunOptions(), 1, UsageLog(Database("sqlite+aiosqlite://", tmp_path))))
    assert (tmp_path / "notes.txt").read_text() == "something else"


def test_each_line_is_run_on_the_real_engine(tmp_path: Path, wirewright: Wirewright) -> None:
    inputs(tmp_path, "one", "two")
    flow, out = tmp_path / "echo.flow", tmp_path / "out.jsonl"
    flow.write_text("name: Echo\nnodes:\n  in: ChatInput\n  out: ChatOutput\nedges:\n  in.message -> out.input_value\n")
    done = wirewright("flow", "run", flow, "--batch", tmp_path / "inputs.jsonl", "--out", out, "--json")
    assert (done.code, done.json["done"]) == (0, 2), done
    assert [json.loads(line)["result"]["output"] for line in out.read_text().splitlines()] == ["one", "two"]
    assert wirewright("usage", "--json").json["total"]["runs"] == 2
