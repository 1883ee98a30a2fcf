"""Dividing scenarios: the same every time, clusters together, each kind in both halves."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.analysis.clusters import linked
from evals.cluster_keys import cluster_keys
from evals.packs.split import SplitError, divide
from evals.scenario import Scenario
from evals.scenarios.coverage import kind_of
from evals.scenarios.splits import features
from tests.evals.conftest import scenario_named, scenarios


def unsplit(scenario: Scenario, **more: object) -> Scenario:
    """A scenario that does not say its split."""
    return Scenario.model_validate(
        {**scenario.model_dump(by_alias=True, exclude={"split"}, exclude_unset=True), **more}, strict=False
    )


ALL = [unsplit(one) for one in scenarios()]
CLUSTERS = linked((one.id, cluster_keys(one)) for one in ALL)


@given(seed=st.text(max_size=8), share=st.floats(0, 1))
def test_what_belongs_together_is_never_divided_and_the_result_is_the_same(seed: str, share: float) -> None:
    found = divide(ALL, share, seed)
    assert found == divide(list(reversed(ALL)), share, seed)
    assert len({(CLUSTERS[name], split) for name, split in found.items()}) == len(set(CLUSTERS.values()))


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_every_kind_of_which_there_are_enough_is_in_both_halves_by_its_share(share: float) -> None:
    found = divide(ALL, share)
    total = Counter(kind_of(one) for one in ALL)
    test = Counter(kind_of(one) for one in ALL if found[one.id] == "test")
    largest = max(Counter(CLUSTERS.values()).values())
    for kind, count in total.items():
        assert abs(test[kind] - share * count) <= max(2, largest / 2), kind
    whole = sum(split == "test" for split in found.values()) / len(ALL)
    assert abs(whole - share) < 0.1


@pytest.mark.parametrize("kind", ["answer", "ask", "refuse"])
@pytest.mark.parametrize("count", [2, 4, 6])
def test_a_kind_with_few_scenarios_is_in_both_halves_whatever_stands_beside_it(kind: str, count: int) -> None:
    wanted = [one for one in ALL if one.turns[-1].should == kind and not one.acts]
    apart = {CLUSTERS[one.id]: one for one in wanted}
    few = list(apart.values())[:count]
    others = [one for one in ALL if one.acts][:31]
    found = divide([*few, *others])
    assert Counter(found[one.id] for one in few) == {"dev": count // 2, "test": count // 2}


@pytest.mark.parametrize("seed", ["", "a", "b"])
def test_both_halves_are_as_difficult(seed: str) -> None:
    found = divide(ALL, seed=seed)
    total = Counter(feature for one in ALL for feature in features(one))
    test = Counter(feature for one in ALL if found[one.id] == "test" for feature in features(one))
    for feature, count in total.items():
        if count >= 20 and not feature.startswith("language"):
            assert abs(test[feature] / count - 0.5) <= 0.2, feature


def test_nothing_and_everything_may_be_kept_for_test() -> None:
    assert set(divide(ALL, 0.0).values()) == {"dev"}
    assert set(divide(ALL, 1.0).values()) == {"test"}


def test_another_seed_divides_differently() -> None:
    assert divide(ALL, seed="a") != divide(ALL, seed="b")


def test_a_split_that_a_file_says_stays_and_its_cluster_follows() -> None:
    echo = unsplit(scenario_named("echo"), split="test")
    twin = unsplit(scenario_named("echo"), id="echo-twin")
    for share in (0.0, 1.0):
        assert divide([twin, echo], share) == {"echo-twin": "test", "echo": "test"}
    with pytest.raises(SplitError) as caught:
        divide([unsplit(scenario_named("echo"), id="echo-twin", split="dev"), echo])
    assert set(caught.value.ids) == {"echo", "echo-twin"}
