"""A worker for turns that has nothing to do hardly touches its database, and still begins a turn at once."""

import asyncio
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from server.settings import ServerSettings
from tests.databases.postgres import Cluster
from tests.server.durable.playing import MESSAGE
from tests.server.durable.test_elsewhere import server
from tests.server.durable.test_workers import left_to_workers, worker
from tests.server.streams.following import started
from tests.shared.flow_texts import LOUDER, flow_of

pytestmark = pytest.mark.anyio

COUNTED_SECONDS = 12
"""After how long Postgres has counted what was done before: a session says it when it has been idle for 10 s."""

SECONDS = 8
AT_MOST = 10.0
"""Transactions of an idle worker in a second: that it is there, what is lost, and DBOS's look.

That look asks its connection each time whether it still works.
"""

WAKES = 60.0
"""How often its threads wake in a second. DBOS's own notices alone would wake one a hundred times."""

TRANSACTIONS = "select sum(xact_commit + xact_rollback)::int from pg_stat_database where datname = 'postgres'"


def wakes(process: int) -> int:
    """How often the threads of a process have gone to sleep by themselves."""
    every = (task / "status" for task in Path(f"/proc/{process}/task").iterdir())
    return sum(int(file.read_text().partition("\nvoluntary_ctxt_switches:")[2].split()[0]) for file in every)


async def test_an_idle_worker_makes_few_transactions_and_wakes_seldom(
    own_postgres: Cluster, catalogue: Catalogue, python_command: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_to_workers(own_postgres, monkeypatch)
    async with worker(python_command):
        async with server(python_command) as (_, here):
            canvas = flow_of(LOUDER, catalogue).raw
            told = await started(here, input_value=MESSAGE, session_id="s", turn_id="t", flow=canvas)
            assert told[-1]["event"] == "complete"
        await asyncio.sleep(COUNTED_SECONDS)
        process = int((ServerSettings().data / "hung").read_text())
        before = own_postgres.execute(TRANSACTIONS)[0][0], wakes(process)
        await asyncio.sleep(SECONDS)
        after = own_postgres.execute(TRANSACTIONS)[0][0], wakes(process)
    transactions, woken = ((after[at] - before[at]) / SECONDS for at in (0, 1))
    assert transactions <= AT_MOST, transactions
    assert woken <= WAKES, woken
