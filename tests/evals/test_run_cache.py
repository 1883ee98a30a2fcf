"""The cache of runs: the same run is made once, another run is made, and services are always called."""

from dataclasses import replace
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from runtime.database.database import Database
from runtime.files.store import UserFiles
from runtime.options import RunOptions
from runtime.results import RunFile, RunResult
from runtime.runner import Runner
from runtime.sessions.store import FlowSessions
from tests.evals.run_cache import CachedRunner
from tests.shared.flow_texts import HISTORY, flow_of
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio


SPEC = """
name: x
nodes:
  a: TextInput
  b: ChatOutput
edges:
  a.text -> b.input_value
config:
  a.input_value: """


def flow_that_says(text: str, catalogue: Catalogue) -> Flow:
    """A flow whose output holds a text."""
    flow = build(SPEC + text, catalogue).flow
    assert flow is not None
    return flow


async def outputs(runner: CachedRunner, *runs: tuple[Flow, str | None, RunOptions]) -> list[str | None]:
    """What each run gives."""
    found: list[RunResult] = [await runner.execute(*run) for run in runs]
    return [result.output for result in found]


async def test_a_run_is_made_once_for_its_flow_input_options_and_models(tmp_path: Path, catalogue: Catalogue) -> None:
    flow, other = flow_that_says("hello", catalogue), flow_that_says("bye", catalogue)
    plain, checked = RunOptions(session="one"), RunOptions(network="gateway-only")
    engine = StandInRunner(results=[ran(str(number)) for number in range(9)])
    runner = CachedRunner(engine, tmp_path, ())
    runs = [(flow, "a", plain), (flow, "a", RunOptions(session="two")), (flow, "b", plain), (other, "a", plain)]
    assert await outputs(runner, *runs, (flow, "a", checked)) == ["0", "0", "1", "2", "3"]
    assert await outputs(CachedRunner(engine, tmp_path, ()), *runs) == ["0", "0", "1", "2"]


async def test_a_run_that_calls_a_service_is_always_made(tmp_path: Path, catalogue: Catalogue) -> None:
    flow = flow_that_says("http://127.0.0.1:4711/x", catalogue)
    runner = CachedRunner(StandInRunner(results=[ran("1"), ran("2")]), tmp_path, ())
    assert await outputs(runner, (flow, None, RunOptions()), (flow, None, RunOptions())) == ["1", "2"]


async def test_a_run_is_made_again_when_the_users_files_have_changed(tmp_path: Path, catalogue: Catalogue) -> None:
    flow, engine = flow_that_says("hello", catalogue), StandInRunner(results=[ran(str(number)) for number in range(9)])
    runner = CachedRunner(engine, tmp_path / "kept", ())
    (tmp_path / "kept").mkdir()
    (ada, bob) = (RunOptions(files=UserFiles(tmp_path, user)) for user in ("ada", "bob"))
    assert await outputs(runner, (flow, None, RunOptions()), (flow, None, ada), (flow, None, bob)) == ["0", "1", "1"]
    for owner, content in ((ada, "one"), (bob, "two")):
        assert owner.files is not None
        owner.files.write("notes.txt", content)
    assert await outputs(runner, (flow, None, ada), (flow, None, bob), (flow, None, ada)) == ["2", "3", "2"]


async def test_a_run_that_writes_files_is_always_made(tmp_path: Path, catalogue: Catalogue) -> None:
    flow, options = flow_that_says("hello", catalogue), RunOptions(files=UserFiles(tmp_path, None))
    wrote = (RunFile(path="a.txt", size=1, new=True),)
    runner = CachedRunner(StandInRunner(results=[replace(ran("1"), files=wrote), ran("2")]), tmp_path, ())
    assert await outputs(runner, (flow, None, options), (flow, None, options)) == ["1", "2"]


@pytest.mark.engine
async def test_a_session_is_remembered_whether_its_runs_are_made_or_not(
    tmp_path: Path, catalogue: Catalogue, engine: Runner
) -> None:
    flow, memory = flow_of(HISTORY, catalogue), FlowSessions(Database("nowhere"))
    first, second = (RunOptions(session="s", memory=memory.memory(owner, "f", "s")) for owner in ("ada", "bob"))
    made = await outputs(CachedRunner(engine, tmp_path, ()), (flow, "one", first), (flow, "two", first))
    assert made == ["before:  now: one", f"before: User: one\nAI: {made[0]} now: two"]
    kept = CachedRunner(StandInRunner(results=[ran("made")]), tmp_path, ())
    assert await outputs(kept, (flow, "one", second), (flow, "two", second)) == made
    assert await outputs(kept, (flow, "three", second)) == ["made"]
