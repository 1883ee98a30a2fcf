"""Probes: with files of their own, and run again bounded and with the addresses of services that are served anew."""

import copy
from dataclasses import replace
from pathlib import Path

import pytest

from evals.evaluators.resolved import probe_failure
from evals.expectation import Expectation, Probe
from evals.play.addresses import with_other_addresses
from evals.play.environment import PlayEnvironment
from evals.play.probes import PROBE_ITERATIONS, open_rerun, run_probes
from flows.document import Flow
from runtime.files.store import UserFiles
from runtime.options import RunOptions
from runtime.results import RunFile, RunResult
from tests.evals.conftest import Played, scenario_named
from tests.shared.stand_ins import StandInRunner, ran


@pytest.mark.engine
@pytest.mark.anyio
async def test_a_flow_that_goes_round_for_ever_is_stopped_soon(
    engine_environment: PlayEnvironment, played: Played
) -> None:
    scenario = scenario_named("echo")
    attempt = played(scenario, scenario.reference)
    assert attempt.flow is not None
    round_and_round = copy.deepcopy(attempt.flow.to_json())
    [edge] = round_and_round["data"]["edges"]
    back = {"id": "back", "source": edge["target"], "target": edge["source"], "data": copy.deepcopy(edge["data"])}
    back["data"]["sourceHandle"] |= {"id": edge["target"], "dataType": "ChatOutput"}
    back["data"]["targetHandle"] |= {"id": edge["source"]}
    round_and_round["data"]["edges"].append(back)
    async with open_rerun(scenario, attempt, engine_environment) as rerun:
        probed = await rerun.with_flow(Flow.from_json(round_and_round))
        assert probed.probes
        for run in probed.probes:
            assert run.error is not None
            assert run.error.code == "limit"
            assert str(PROBE_ITERATIONS) in run.error.message
        assert [run.error for run in (await rerun.with_flow(None)).probes] == [None] * len(probed.probes)


def test_addresses_are_exchanged_all_at_once_and_as_wholes() -> None:
    before = {"a": "http://127.0.0.1:4000", "b": "http://127.0.0.1:5000", "gone": "http://127.0.0.1:6000"}
    after = {"a": "http://127.0.0.1:5000", "b": "http://127.0.0.1:4000"}
    text = "http://127.0.0.1:4000/x http://127.0.0.1:5000 http://127.0.0.1:40001 http://127.0.0.1:6000"
    shown = "http://127.0.0.1:5000/x http://127.0.0.1:4000 http://127.0.0.1:40001 http://127.0.0.1:6000"
    assert with_other_addresses(text, before, after) == shown
    assert with_other_addresses(with_other_addresses(text, before, after), after, before) == text
    assert with_other_addresses(text, {}, after) == text


class FilesRunner(StandInRunner):
    """Writes into the user's files what it finds there, and answers with it."""

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Run nothing."""
        assert options.files is not None
        found = {path: options.files.read(path) for path, _ in options.files.listing()}
        options.files.write("report.txt", f"{text}: {found}")
        written = RunFile(path="report.txt", size=1, new=True)
        return replace(await super().execute(flow, text, options), files=(written,), output=f"{text}: {found}")


@pytest.mark.anyio
async def test_a_probe_has_its_own_files_and_what_it_writes_is_read() -> None:
    scenario = scenario_named("echo").model_copy(
        update={
            "files": {"a.txt": "first", "b.txt": "kept"},
            "probes": (
                Probe(input="x", files={"a.txt": "second"}, writes={"report.*": Expectation(contains="second")}),
                Probe(input="y", files={"a.txt": "third"}, unlike="z"),
                Probe(input="w", contains="w"),
            ),
        }
    )
    runner = FilesRunner(results=[ran("")] * 4)
    options = RunOptions(files=UserFiles(Path("/nowhere"), "none"))
    flow = Flow.from_json({"data": {"nodes": [{"id": "a", "data": {}}], "edges": []}})
    made = await run_probes(scenario.model_copy(update={"probes": scenario.probes[:2]}), flow, runner, options)
    assert [result.output for result in made.results] == [
        "x: {'a.txt': 'second', 'b.txt': 'kept'}",
        "y: {'a.txt': 'third', 'b.txt': 'kept'}",
        "z: {'a.txt': 'third', 'b.txt': 'kept'}",
    ]
    assert [list(files) for files in made.written] == [["report.txt"]] * 3
    assert made.written[0]["report.txt"] == made.results[0].output


@pytest.mark.parametrize(
    ("written", "output", "why"),
    [
        ({"report.md": "4 cups"}, "ok", ""),
        (
            {"report.md": "5 cups"},
            "ok",
            "should write a file report.* with contains '4 cups'; it wrote report.md: '5 cups'",
        ),
        ({"other.md": "4 cups"}, "ok", "should write a file report.* with contains '4 cups'; it wrote none"),
        ({"report.md": "4 cups"}, "no", "gave 'no', expected contains 'k'"),
    ],
)
def test_a_file_that_must_be_written_and_each_further_expectation_count(
    written: dict[str, str], output: str, why: str
) -> None:
    rules = (Expectation(contains="k"),)
    probe = Probe(input="x", regex=".", also=rules, writes={"report.*": Expectation(contains="4 cups")})
    assert probe_failure(probe, (ran(output),), written) == why
    assert str(probe) == "regex '.' and contains 'k' and a file report.* with contains '4 cups'"


def test_a_probe_that_must_fail_expects_nothing_else() -> None:
    with pytest.raises(ValueError, match="leave out also and writes"):
        Probe(input="x", error="external", also=(Expectation(contains="k"),))
    only_files = Probe(input="x", writes={"a.txt": Expectation(equals="b")})
    assert probe_failure(only_files, (ran(None),), {"a.txt": "b"}) == ""
