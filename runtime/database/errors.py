"""Why the database cannot be used, for the user."""


class StoreUnavailable(Exception):
    """The database cannot be read or written; `__cause__` has the reason, for the log only.

    Attributes:
        message: what is wrong.
        fix: what the user can do.
    """

    def __init__(self, message: str = "The database cannot be used.", fix: str = "The log says why.") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class DatabaseTooNew(StoreUnavailable):
    """The database has a schema that this version does not know."""

    def __init__(self, revision: str) -> None:
        super().__init__(
            f"The database was written by a newer version of Wirewright (schema {revision}).",
            "Update Wirewright, or set WIREWRIGHT_DATABASE to another database.",
        )
