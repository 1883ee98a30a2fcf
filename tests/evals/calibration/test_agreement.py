"""Agreement of a judge with labels: the textbook figures, their intervals, and silence that counts as wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.analysis.statistics import wilson
from evals.calibration.agreement import Judged, agreement, by_language, by_trap, cohen_kappa
from evals.calibration.answers import LabelledAnswer

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def judged(*cells: tuple[bool, bool | None], language: str = "en", trap: str | None = None) -> list[Judged]:
    """An answer for each label and judgement."""
    row = {"user": "u", "answer": "a", "statement": "s", "because": "b", "trap": trap}
    return [
        (LabelledAnswer.model_validate(row | {"id": f"{language}-{number:03}", "label": label}), said)
        for number, (label, said) in enumerate(cells)
    ]


def test_the_figures_are_those_of_the_textbook() -> None:
    found = agreement(judged(*[(True, True)] * 20, *[(True, False)] * 5, *[(False, True)] * 10, *[(False, False)] * 15))
    assert found.accuracy.value == 0.7
    assert (found.accuracy.low, found.accuracy.high) == wilson(35, 50)
    assert (found.sensitivity.value, found.sensitivity.count) == (0.8, 25)
    assert (found.specificity.value, found.specificity.count) == (0.6, 25)
    assert found.kappa.value == pytest.approx(0.4)
    assert found.kappa.low < 0.4 < found.kappa.high


def test_the_interval_of_kappa_is_the_same_each_time() -> None:
    cells = judged(*[(True, True)] * 9, (True, False), *[(False, False)] * 9, (False, True))
    assert agreement(cells).kappa == agreement(cells).kappa


def test_an_answer_that_is_not_judged_is_wrong() -> None:
    found = agreement(judged((True, True), (True, None), (False, None), (False, False)))
    assert (found.accuracy.value, found.unanswered) == (0.5, 2)
    assert (found.sensitivity.value, found.specificity.value, found.kappa.value) == (0.5, 0.5, 0.0)


def test_languages_and_traps_are_measured_apart() -> None:
    cells = [*judged((True, True), (False, True), language="de", trap="echo"), *judged((True, True), language="ja")]
    assert {name: share.value for name, share in by_language(cells).items()} == {"de": 0.5, "ja": 1.0}
    assert {name: (share.value, share.count) for name, share in by_trap(cells).items()} == {
        "echo": (0.5, 2),
        "none": (1.0, 1),
    }


def test_what_was_never_asked_has_no_share_and_no_answers_are_an_error() -> None:
    found = agreement(judged((True, True)))
    assert (found.specificity.value, found.specificity.low, found.specificity.high) == (None, 0.0, 1.0)
    with pytest.raises(ValueError, match="no answer"):
        agreement([])
    with pytest.raises(ValueError, match="at least one pair"):
        cohen_kappa([])


@given(PAIRS)
def test_kappa_is_at_most_one_and_changes_its_sign_with_the_judgements_of_balanced_labels(
    pairs: list[tuple[bool, bool]],
) -> None:
    value = cohen_kappa(pairs)
    assert -1 - 1e-9 <= value <= 1 + 1e-9
    balanced = [*pairs, *((not label, not said) for label, said in pairs)]
    turned = [(label, not said) for label, said in balanced]
    assert cohen_kappa(balanced) == pytest.approx(-cohen_kappa(turned))
    assert cohen_kappa([(said, label) for label, said in pairs]) == pytest.approx(value)


@given(st.lists(st.booleans(), min_size=2, max_size=40))
def test_a_judge_that_always_agrees_has_kappa_one_and_one_that_always_says_the_same_zero(labels: list[bool]) -> None:
    perfect = cohen_kappa((label, label) for label in labels)
    assert perfect == (1.0 if len(set(labels)) == 2 else 0.0)
    assert cohen_kappa((label, True) for label in labels) == 0.0
