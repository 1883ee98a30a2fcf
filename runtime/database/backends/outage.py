"""What a loop logs while its database is away: when that begins, and when it ends."""

from __future__ import annotations

import logging
from typing import Final

from runtime.database.errors import StoreUnavailable

_DRIVERS: Final = ("sqlalchemy", "psycopg")


def is_outage(failure: BaseException) -> bool:
    """Whether a failure is the database's, also where DBOS says so, which uses it by itself."""
    return isinstance(failure, StoreUnavailable) or type(failure).__module__.partition(".")[0] in _DRIVERS


class Outage:
    """The outages of one loop, each logged twice however often the loop tries in between.

    Args:
        log: where it is logged.
        name: the name of the line, such as `jobs.heartbeat_failed`.
    """

    def __init__(self, log: logging.Logger, name: str) -> None:
        self._log = log
        self._name = name
        self._lasts = False

    def goes_on(self, failure: BaseException) -> None:
        """Note that something has failed."""
        if not self._lasts:
            self._log.warning("%s: %s It is tried until the database answers.", self._name, failure)
        self._lasts = True

    def is_over(self) -> None:
        """Note that everything works."""
        if self._lasts:
            self._log.warning("%s: the database answers again.", self._name)
        self._lasts = False
