"""The split into `dev` and `test`: whole clusters, halves of equal difficulty, and nothing that moves later."""

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.analysis.clusters import clusters
from evals.analysis.statistics import estimate
from evals.analysis.tally import read_verdicts
from evals.cluster_keys import cluster_keys
from evals.expectation import Expectation
from evals.scenario import Scenario, Split, Turn
from evals.scenarios.coverage import KINDS, kind_of
from evals.scenarios.loader import FOLDER
from evals.scenarios.splits import SPLITS, assign, features
from evals.score import Verdict
from scripts.baseline import BASELINE, SCRIPTED
from scripts.task_set import stated_splits, write_splits
from tests.evals.conftest import scenarios

AGAIN = "python -m scripts.task_set"
CANVASES = st.lists(st.one_of(st.none(), st.integers(0, 6)), min_size=1, max_size=40)


def question(number: int, canvas: int | None) -> Scenario:
    """A question about one of some canvases."""
    turn = Turn(say=f"What is in {'x' * (number + 1)}?", should="answer", answer=(Expectation(contains="yes"),))
    return Scenario(
        id=f"s{number}", about="asks", canvas=None if canvas is None else f"nodes:\n  a{canvas}: X\n", turns=(turn,)
    )


def halves(split: Split) -> list[Scenario]:
    """The scenarios of one half."""
    return [one for one in scenarios() if one.split == split]


def test_every_scenario_states_where_it_belongs_and_nothing_is_to_move() -> None:
    stated = stated_splits()
    assert set(stated) == {one.id for one in scenarios()}, AGAIN
    assert assign(scenarios(), stated) == stated, AGAIN


def test_no_cluster_is_in_both_halves() -> None:
    verdicts = [Verdict(scenario=one.id, passed=True, scores=(), cluster_keys=cluster_keys(one)) for one in scenarios()]
    found: dict[str, set[str]] = {}
    for name, cluster in clusters(verdicts).items():
        found.setdefault(cluster, set()).add(stated_splits()[name])
    assert {cluster for cluster, splits in found.items() if len(splits) > 1} == set()


def test_both_halves_hold_as_much_of_everything() -> None:
    dev, test = (Counter(feature for one in halves(split) for feature in features(one)) for split in SPLITS)
    assert abs(dev["all"] - test["all"]) <= 4
    for kind in KINDS:
        assert abs(dev[f"kind {kind}"] - test[f"kind {kind}"]) <= 3, kind
    far = {name: (dev[name], test[name]) for name in dev | test if abs(dev[name] - test[name]) > 6}
    assert far == {}


@pytest.mark.parametrize("path", [BASELINE, SCRIPTED], ids=["demo planner", "scripted model"])
def test_a_player_finds_both_halves_equally_hard(path: Path) -> None:
    verdicts = list(read_verdicts(path))
    together = clusters(verdicts)
    rates = [
        estimate({one.scenario: [float(one.passed is True)] for one in verdicts if one.scenario in names}, together)
        for names in ({one.id for one in halves(split)} for split in SPLITS)
    ]
    dev, test = (rate for rate in rates if rate is not None)
    assert abs(dev.mean - test.mean) <= 0.1, (dev, test)
    assert 0.05 < dev.mean < 0.95, "it tells easy scenarios from hard ones"


@given(CANVASES, st.randoms(use_true_random=False))
def test_the_order_of_the_scenarios_makes_no_difference(canvases: list[int | None], rng: random.Random) -> None:
    made = [question(number, canvas) for number, canvas in enumerate(canvases)]
    shuffled = rng.sample(made, len(made))
    assert assign(made) == assign(shuffled)


@given(CANVASES)
def test_scenarios_on_one_canvas_are_never_parted_and_the_halves_differ_by_one_cluster_at_most(
    canvases: list[int | None],
) -> None:
    made = [question(number, canvas) for number, canvas in enumerate(canvases)]
    splits = assign(made)
    for canvas in {one.canvas for one in made if one.canvas is not None}:
        assert len({splits[one.id] for one in made if one.canvas == canvas}) == 1
    largest = max(Counter(one.canvas or one.id for one in made).values())
    counts = Counter(splits.values())
    assert abs(counts["dev"] - counts["test"]) <= largest


@given(CANVASES, st.integers(0, 40))
def test_what_is_assigned_stays_when_scenarios_are_added(canvases: list[int | None], known: int) -> None:
    made = [question(number, canvas) for number, canvas in enumerate(canvases)]
    before = assign(made[:known])
    after = assign(made, before)
    assert {name: after[name] for name in before} == before


def test_a_split_is_written_below_the_tags_and_replaced(tmp_path: Path) -> None:
    name = scenarios()[0].id
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    for split in ("test", "dev"):
        write_splits({name: split}, tmp_path)
        assert stated_splits(tmp_path) == {name: split}
    assert (tmp_path / f"{name}.yaml").read_text(encoding="utf-8").count("\nsplit: ") == 1


def test_the_kinds_of_scenarios_are_told_by_what_they_lead_to() -> None:
    kinds = {one.id: kind_of(one) for one in scenarios()}
    wanted = {
        "echo-wired": "build",
        "edit-template": "edit",
        "debug-wrong-branch": "debug",
        "run-only": "run",
        "file-tick-off": "files",
        "question-count": "question",
        "ask-which": "ask",
        "refuse-weather": "refuse",
    }
    assert {name: kinds[name] for name in wanted} == wanted
