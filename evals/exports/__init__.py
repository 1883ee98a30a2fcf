"""The adapter to `pydantic-evals`, the only place that knows it: its judge here, its experiments for Logfire there."""

SHOWN = 8_000
"""Characters of one text that leave this process, in a span or to a judge."""


def shorten(text: str) -> str:
    """The first `SHOWN` characters of a text, and how many more there are."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} [{len(text) - SHOWN:,} more characters]"


class MissingExtra(ImportError):
    """`pydantic-evals` is not installed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs the extra: install wirewright[evals]")
