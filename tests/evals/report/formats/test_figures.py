"""Figures are short, and small ones are not nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.report.formats.figures import figure


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.00"),
        (0.00002, "<0.0001"),
        (0.0001, "0.0001"),
        (0.00123, "0.0012"),
        (0.01, "0.01"),
        (4.724, "4.72"),
        (100.0, "100"),
        (1234.5, "1,234"),
    ],
)
def test_a_figure_has_the_digits_that_matter(value: float, shown: str) -> None:
    assert figure(value) == shown


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_what_is_more_than_nothing_is_shown_as_more_than_nothing(value: float) -> None:
    shown = figure(value)
    assert shown.startswith("<") or abs(float(shown.replace(",", "")) - value) <= 0.05 * value + 0.005
    assert shown.strip("0.") != ""
