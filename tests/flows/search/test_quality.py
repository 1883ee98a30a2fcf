"""Search answers what people mean: labelled queries over the real catalogue, beside the engine's own search."""

import pytest

from benchmarks.searching import Labelled, judge, labelled, many, ours, substring
from flows.catalogue import Catalogue
from runtime.install.environment import RunnerEnvironment

PARTS = ("development", "held_out", "later")


@pytest.fixture(scope="module")
def everything(runner_environment: RunnerEnvironment) -> Catalogue:
    """The whole catalogue, as the engine exports it."""
    return Catalogue.load()


def queries(part: str) -> Labelled:
    parts = labelled()
    return (
        parts[part] if part in parts else {query: wanted for held in parts.values() for query, wanted in held.items()}
    )


def test_labels_name_types_that_there_are(everything: Catalogue):
    assert {kind for wanted in queries("all").values() for kind in wanted if kind not in everything} == set()


def test_there_are_enough_queries_and_none_is_in_two_parts():
    tuned, held_out, later = (queries(part) for part in PARTS)
    assert len(held_out) >= 100
    assert len(later) >= 200
    assert len(tuned) + len(held_out) >= 260
    assert tuned.keys().isdisjoint(held_out)
    assert later.keys().isdisjoint({**tuned, **held_out})


def test_every_current_component_is_wanted_by_some_query(everything: Catalogue):
    wanted = frozenset[str]().union(*queries("all").values())
    assert {part.type for part in everything if not part.legacy} - wanted == set()


@pytest.mark.parametrize("part", [*PARTS, "all"])
def test_right_component_is_among_the_first_five(everything: Catalogue, part: str):
    quality, baseline = (judge(search(everything), queries(part)) for search in (ours, substring))
    assert quality.recall_at_5 >= 0.95, quality
    assert quality.recall_at_1 >= 0.9, quality
    assert quality.reciprocal_rank >= 0.9, quality
    assert quality.recall_at_5 > baseline.recall_at_5 + 0.5, (quality, baseline)


def test_legacy_component_never_goes_before_the_current_one_that_is_wanted(everything: Catalogue):
    legacy = {part.type for part in everything if part.legacy}
    for query, wanted in queries("all").items():
        if wanted.isdisjoint(legacy):
            found = [match.type for match in everything.search(query, 1)]
            assert legacy.isdisjoint(found), query


def test_right_component_is_found_among_ten_thousand(everything: Catalogue):
    crowd = many(everything)
    assert len(crowd) == 10_000
    for query in ("read a pdf", "if else", "calculater", "buscar en la web"):
        assert crowd.search(query)[0].type == everything.search(query)[0].type
