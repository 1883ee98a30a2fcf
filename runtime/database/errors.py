"""Why the database cannot be used, for the user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final


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


class SchemaOutdated(StoreUnavailable):
    """The database has an earlier schema, and is not migrated without being asked."""

    def __init__(self, revision: str, current: str) -> None:
        super().__init__(
            f"The database has the schema {revision}, and this version of Wirewright needs {current}.",
            "Stop the servers of earlier versions, then run: wirewright migrate",
        )


class DatabaseBusy(StoreUnavailable):
    """Another process keeps the database locked."""

    def __init__(self) -> None:
        super().__init__(
            "The database is locked by another process.",
            "Try again. If that does not help, end the process that keeps it locked.",
        )


class DatabaseSlow(StoreUnavailable):
    """The database did not answer in time."""

    def __init__(self) -> None:
        super().__init__("The database did not answer in time.", "Try again when it has less to do.")


class DatabaseFull(StoreUnavailable):
    """There is no room for what is to be stored; nothing of it was."""

    def __init__(self) -> None:
        super().__init__(
            "The database has no room left; the change was not stored.", "Free some space on its disk, then try again."
        )


class DiskFails(StoreUnavailable):
    """The system does not read or write the file; some of its failures mean that there is no room."""

    def __init__(self) -> None:
        super().__init__(
            "The disk of the database cannot be read or written; it may have no room left.",
            "Free some space on it, and check the disk, then try again.",
        )


class DatabaseGone(StoreUnavailable):
    """The database is not where it was."""

    def __init__(self) -> None:
        super().__init__(
            "The database is not reachable, or its file was removed.",
            "Start the database server, or restore the file and start Wirewright again; check DATABASE_URL.",
        )


class DatabaseReadOnly(StoreUnavailable):
    """The database may not be written."""

    def __init__(self) -> None:
        super().__init__("The database cannot be written.", "Check the permissions of its file, folder or user.")


class DatabaseDamaged(StoreUnavailable):
    """The file is damaged, or holds something else."""

    def __init__(self) -> None:
        super().__init__(
            "The file of the database is damaged, or is not a database.",
            "Restore it: wirewright restore FILE --overwrite",
        )


class DriverMissing(StoreUnavailable):
    """The URL names a database whose driver is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "The driver of the database is not installed.", "Install wirewright[postgres], or correct the URL."
        )


SQLITE_KINDS: Final[dict[int, type[StoreUnavailable]]] = {
    5: DatabaseBusy,
    6: DatabaseBusy,
    8: DatabaseReadOnly,
    10: DiskFails,
    11: DatabaseDamaged,
    13: DatabaseFull,
    14: DatabaseGone,
    26: DatabaseDamaged,
}
"""By SQLite's primary result code (https://sqlite.org/rescode.html)."""

POSTGRES_KINDS: Final[dict[str, type[StoreUnavailable]]] = {
    "08": DatabaseGone,
    "25006": DatabaseReadOnly,
    "28": DatabaseGone,
    "3D": DatabaseGone,
    "40P01": DatabaseBusy,
    "42501": DatabaseReadOnly,
    "53100": DatabaseFull,
    "53": DatabaseBusy,
    "55P03": DatabaseBusy,
    "57014": DatabaseSlow,
    "57P": DatabaseGone,
    "25P03": DatabaseSlow,
    "XX001": DatabaseDamaged,
}
"""By the beginning of an SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html)."""


def unavailable(error: BaseException) -> StoreUnavailable:
    """What an error of a database, its driver or the system means for the user."""
    for each in _causes(error):
        code, state = getattr(each, "sqlite_errorcode", None), getattr(each, "sqlstate", None)
        if isinstance(code, int):
            return SQLITE_KINDS.get(code & 0xFF, StoreUnavailable)()
        if isinstance(state, str):
            kinds = (POSTGRES_KINDS.get(state[:length]) for length in (5, 3, 2))
            return next((kind() for kind in kinds if kind is not None), StoreUnavailable())
        if isinstance(each, ImportError):
            return DriverMissing()
        if isinstance(each, TimeoutError) or type(each).__name__ == "TimeoutError":  # SQLAlchemy's own, of its pool
            return DatabaseSlow()
        if isinstance(each, ConnectionError) or type(each).__module__.partition(".")[0] == "psycopg":
            return DatabaseGone()
    return StoreUnavailable()


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that it was made from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        original = getattr(error, "orig", None)
        error = original if isinstance(original, BaseException) else error.__cause__ or error.__context__


class Superseded(Exception):
    """Another process goes on with the turn; the transaction is rolled back."""


class Done(Exception):
    """What was to be stored is stored already; the transaction is rolled back."""
