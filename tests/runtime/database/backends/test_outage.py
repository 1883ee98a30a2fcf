"""An outage of the database is logged when it begins and when it ends."""

import logging

import pytest
from sqlalchemy.exc import OperationalError

from runtime.database.backends.outage import Outage, is_outage
from runtime.database.errors import DatabaseGone


def test_an_outage_is_logged_once_when_it_begins_and_once_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage(logging.getLogger("tests"), "jobs.not_done")
    outage.is_over()
    for _ in range(2):
        for _ in range(100):
            outage.goes_on(DatabaseGone())
        outage.is_over()
        outage.is_over()
    begins, ends = "jobs.not_done: The database is not reachable", "jobs.not_done: the database answers again."
    told = [record.getMessage() for record in caplog.records]
    assert [line.startswith(begins) for line in told] == [True, False] * 2
    assert told[1] == told[3] == ends
    assert all(record.exc_info is None for record in caplog.records)


def test_what_dbos_says_of_its_database_is_one_and_a_mistake_is_none() -> None:
    assert is_outage(DatabaseGone())
    assert is_outage(OperationalError("select 1", {}, Exception("gone")))
    assert not is_outage(ValueError("mistake"))
