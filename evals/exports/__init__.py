"""Exports for `pydantic-evals`: experiments that Logfire shows, and what its judge shares with them."""

SHOWN = 8_000
"""The most characters of one text that leave this process, in a span or to a judge."""


def shorten(text: str) -> str:
    """The first `SHOWN` characters of a text, and how many more there are."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} [{len(text) - SHOWN:,} more characters]"


class MissingExtra(ImportError):
    """`pydantic-evals` is not installed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs the extra: install wirewright[evals]")
