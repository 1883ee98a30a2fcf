"""Figures as texts: seconds, tokens and sums of money."""

from decimal import Decimal

LEAST = 0.0001
"""What is less than this is only said to be less."""


def figure(value: float) -> str:
    """A figure that is not negative: whole from a hundred, with two decimals, or two digits if it is small."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 0.01 or value == 0:
        return f"{value:,.2f}"
    return f"{Decimal(f'{value:.2g}'):f}" if value >= LEAST else f"<{LEAST}"
