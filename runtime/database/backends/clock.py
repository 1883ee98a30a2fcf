"""The time on the clock of the database, which all servers that share one agree about."""

from typing import Any

from sqlalchemy import String, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class DatabaseTime(FunctionElement[str]):
    """The time so many seconds ago, ISO 8601 in UTC; texts compare as the times do.

    Args:
        ago: seconds.
    """

    type = String()
    inherit_cache = True

    def __init__(self, ago: float = 0.0) -> None:
        super().__init__(literal(float(ago)))


@compiles(DatabaseTime, "sqlite")
def _sqlite(element: DatabaseTime, compiler: SQLCompiler, **options: Any) -> str:
    ago = compiler.process(element.clauses, **options)
    return f"strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', '-' || {ago} || ' seconds')"


@compiles(DatabaseTime, "postgresql")
def _postgres(element: DatabaseTime, compiler: SQLCompiler, **options: Any) -> str:
    ago = compiler.process(element.clauses, **options)
    then = f"(clock_timestamp() - make_interval(secs => {ago})) AT TIME ZONE 'UTC'"
    return f'to_char({then}, \'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"\')'
