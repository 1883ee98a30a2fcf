"""The labelled answers are as many, as balanced and as tricky as the calibration says."""

from evals.calibration.answers import composition_faults, load_answers


def test_the_answers_have_the_composition_that_the_readme_promises() -> None:
    assert composition_faults(load_answers()) == ()
