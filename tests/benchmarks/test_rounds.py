"""Sides measured alternately: their order, their rounds, and what remains when a side fails."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from benchmarks.against.process import ProcessFailed, Worker, worker
from benchmarks.against.report import document, table
from benchmarks.against.rounds import measure
from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def itself(side: Side) -> AsyncGenerator[Side]:
    yield side


def side(name: str, root: Path) -> Side:
    return Side(name=name, root=root, cache=root / "cache")


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Side, Side]:
    """Two sides whose interpreter is the one that runs the tests."""
    for name in ("ours", "theirs"):
        scripts = tmp_path / name / ".venv" / "bin"
        scripts.mkdir(parents=True)
        start = scripts / "python"
        start.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        start.chmod(0o755)
    return side("ours", tmp_path / "ours"), side("theirs", tmp_path / "theirs")


class Measuring:
    """Measures a constant and remembers whose turn it was."""

    def __init__(self, fails: str = "") -> None:
        self.turns: list[str] = []
        self._fails = fails

    async def __call__(self, opened: Side) -> float:
        self.turns.append(opened.name)
        if opened.name == self._fails:
            raise RuntimeError("broken")
        return 2.0 if opened.name == "ours" else 1.0


async def test_the_sides_change_who_goes_first_from_round_to_round(sides: tuple[Side, Side]) -> None:
    measuring = Measuring()
    suite = Suite(open=itself, metrics=(Metric(name="m", unit="ms", measure=measuring, rounds=4, warm=0),))
    (found,) = await measure([suite], sides)
    assert measuring.turns == ["ours", "theirs", "theirs", "ours"] * 2
    assert found.rounds == [(2.0, 1.0)] * 4


async def test_warm_rounds_do_not_count_and_generations_share_the_rounds(sides: tuple[Side, Side]) -> None:
    opened: list[str] = []

    @asynccontextmanager
    async def counted(side: Side) -> AsyncGenerator[Side]:
        opened.append(side.name)
        yield side

    measuring = Measuring()
    metric = Metric(name="m", unit="ms", measure=measuring, rounds=5, warm=1)
    (found,) = await measure([Suite(open=counted, metrics=(metric,), generations=2)], sides)
    assert opened == ["ours", "theirs", "theirs", "ours"]
    assert len(found.rounds) == 5
    assert len(measuring.turns) == 2 * (5 + 2)


async def test_only_the_metrics_that_were_asked_for_are_measured_as_often_as_asked(sides: tuple[Side, Side]) -> None:
    wanted, other = Measuring(), Measuring()
    metrics = tuple(
        Metric(name=name, unit="ms", measure=each, rounds=9, warm=0) for name, each in (("a", wanted), ("b", other))
    )
    (found,) = await measure([Suite(open=itself, metrics=metrics, generations=3)], sides, only=["a"], rounds=2)
    assert (found.metric.name, len(found.rounds), other.turns) == ("a", 2, [])


async def test_a_metric_that_fails_on_one_side_is_reported_and_the_rest_measured(sides: tuple[Side, Side]) -> None:
    metrics = tuple(
        Metric(name=name, unit="ms", measure=each, rounds=8, warm=0)
        for name, each in (("a", Measuring()), ("b", Measuring(fails="theirs")), ("c", Measuring()))
    )
    found = await measure([Suite(open=itself, metrics=metrics, generations=2)], sides)
    assert [(each.metric.name, len(each.rounds), each.failure) for each in found] == [
        ("a", 8, None),
        ("b", 0, "theirs failed: RuntimeError: broken"),
        ("c", 8, None),
    ]
    lines = table(found)
    assert "b                      FAILED: theirs failed: RuntimeError: broken" in lines
    assert lines[-1] == "Worse beyond noise: a, c."
    assert [row.get("verdict") for row in document(found)] == ["worse", None, "worse"]


async def test_a_worker_that_dies_is_reported_with_the_end_of_its_standard_error(sides: tuple[Side, Side]) -> None:
    ours, theirs = sides
    (ours.root / ".venv" / "bin" / "python").write_text("#!/bin/sh\necho no such interpreter >&2\nexit 3\n")

    async def load(working: Worker) -> float:
        return await working.ask("load")

    whole = Metric(name="whole", unit="ms", measure=Measuring(), rounds=1)
    found = await measure(
        [
            Suite(open=worker, metrics=(Metric(name="load", unit="ms", measure=load, rounds=2, warm=0),)),
            Suite(open=itself, metrics=(whole,)),
        ],
        (ours, theirs),
    )
    assert found[0].failure == "ours failed: ProcessFailed: the worker ended with code 3: no such interpreter"
    assert found[1].failure is None


async def test_a_side_that_cannot_be_opened_fails_all_metrics_of_its_stage(sides: tuple[Side, Side]) -> None:
    (sides[1].root / ".venv" / "bin" / "python").unlink()

    async def load(working: Worker) -> float:
        return await working.ask("load")

    metrics = tuple(Metric(name=name, unit="ms", measure=load, rounds=1) for name in ("a", "b"))
    found = await measure([Suite(open=worker, metrics=metrics)], sides)
    assert [each.failure is not None and "theirs failed: FileNotFoundError" in each.failure for each in found] == [
        True,
        True,
    ]


async def test_a_worker_measures_the_face_and_says_what_it_cannot_do(sides: tuple[Side, Side]) -> None:
    catalogue = Path(__file__).parents[1] / "flows" / "data" / "catalogue.json"
    sides[0].cache.mkdir()
    (sides[0].cache / "catalogue.json").write_bytes(catalogue.read_bytes())
    async with worker(sides[0]) as working:
        assert await working.ask("load") > 0
        with pytest.raises(ProcessFailed, match="cannot do 'dance' now"):
            await working.ask("dance")
        with pytest.raises(ProcessFailed, match="TypeError"):
            await working.ask("build", wrong=1)
        assert await working.ask("search", queries=["chat"]) > 0
