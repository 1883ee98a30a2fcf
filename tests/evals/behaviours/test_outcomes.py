"""When what two flows gave is the same."""

from dataclasses import replace

import pytest

from evals.behaviours.families import Inputs
from evals.behaviours.outcomes import Outcome, agree
from runtime.results import RunError
from tests.shared.stand_ins import ran

ALL = Inputs(derive=True)


def gave(*outputs: str) -> Outcome:
    """The outcome of a run with these outputs."""
    return Outcome(outputs=tuple(sorted(outputs)))


def wrote(text: str) -> Outcome:
    """The outcome of a run that said so and wrote this text."""
    return Outcome(outputs=("saved",), written={"note.txt": text})


@pytest.mark.parametrize(
    ("declared", "given", "wanted", "same"),
    [
        (ALL, gave("a"), gave("a"), True),
        (ALL, gave("a"), gave("b"), False),
        (ALL, gave("a"), gave(), False),
        (ALL, gave("a", "b"), gave("b", "a"), True),
        (ALL, gave("a"), gave("a", "a"), False),
        (ALL, Outcome(error="code"), gave("a"), False),
        (ALL, Outcome(outputs=("a",), unanswered=True), gave("a"), False),
        (ALL, gave("a"), Outcome(error="code"), True),
        (Inputs(derive=True, compare="lines"), gave("a\nb"), gave("b\n\na"), True),
        (Inputs(derive=True, compare="lines"), gave("a\nb"), gave("b\nb"), False),
        (Inputs(derive=True, free=(r"\d+",)), gave("at 10"), gave("at 12"), True),
        (Inputs(derive=True, free=(r"\d+",)), gave("at 10"), gave("on 10"), False),
        (Inputs(derive=True, part=r"\d+"), gave("3 words"), gave('{"words": 3, "lines": 1}'), True),
        (Inputs(derive=True, part=r"\d+"), gave("4 words"), gave('{"words": 3, "lines": 1}'), False),
        (Inputs(derive=True, part=r"\d+"), gave("no words"), gave("none"), True),
        (ALL, wrote("a"), wrote("a"), True),
        (ALL, wrote("a"), wrote("b"), False),
        (ALL, wrote("a"), gave("saved"), False),
        (Inputs(derive=True, free=(r"\d+",)), wrote("at 10"), wrote("at 12"), True),
        (Inputs(derive=True, branches=("^Yes", "^No")), gave("Yes, a"), gave("Yes, b"), True),
        (Inputs(derive=True, branches=("^Yes", "^No")), gave("Yes, a"), gave("No, a"), False),
    ],
)
def test_outcomes_agree_by_what_the_scenario_compares(
    declared: Inputs, given: Outcome, wanted: Outcome, same: bool
) -> None:
    assert agree(declared, given, wanted) is same


def test_an_outcome_has_the_outputs_that_were_reached_or_the_error() -> None:
    result = ran("x")
    assert Outcome.of(result) == gave("x")
    assert Outcome.of(replace(result, output=None)) == Outcome(outputs=("x",), unanswered=True)
    assert str(Outcome(outputs=("x",), unanswered=True)) == "'x', but not in the chat"
    written = Outcome.of(result, {"b.txt": "y" * 9_999, "a.txt": "z"})
    assert list(written.written) == ["a.txt", "b.txt"]
    assert len(written.written["b.txt"]) < 9_999
    assert str(written).startswith("'x', and 'z' in a.txt, and 'yyy")
    failed = replace(result, error=RunError(code="wiring", message="broken"))
    assert Outcome.of(failed) == Outcome(error="wiring")


def test_a_long_output_is_shown_in_part() -> None:
    assert str(gave("x" * 500)) == repr("x" * 100 + "…")
    assert str(gave()) == "nothing"
