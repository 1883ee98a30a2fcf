"""The adapter to `pydantic-evals`, the only place that knows it: its judge here, its experiments for Logfire there."""


class MissingExtra(ImportError):
    """`pydantic-evals` is not installed.

    Args:
        what: what cannot be done without it.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs the extra: install wirewright[evals]")
