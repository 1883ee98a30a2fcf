"""DBOS, which carries out workflows durably, over the database of everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from dbos import DBOS, _workflow_commands
from sqlalchemy import Engine, ExceptionContext, create_engine, event, make_url

from runtime.durable.json_values import JsonValues
from runtime.durable.records import durable_file, durable_schema
from runtime.files.private import close_to_others

if TYPE_CHECKING:
    from dbos import DBOSConfig

PROTOCOL: Final = "2"
"""The form of the workflows' steps. A change that cannot go on with earlier turns' steps counts up."""

IDLE_SECONDS: Final = 3_600.0
"""How often DBOS's own scheduler looks for new schedules."""

NOTICE_SECONDS: Final = 0.5
"""How often DBOS sends notices of its own events and streams, of which there are none; it is 0.01 by default."""

SWEEP_SECONDS: Final = 20.0
"""How often it looks for workflows that are delayed or take too long, of which there are none; it holds a connection
in a transaction from one time to the next."""

BUSY_MILLISECONDS: Final = 30_000


class DurableEngine:
    """DBOS in this process; there is one at a time.

    On Postgres its tables are a schema of their own in the same database. On SQLite they are a file beside it, in WAL
    mode, since DBOS blocks the file while it works.

    Args:
        url: the database, as an SQLAlchemy URL.
        executor: names this process among all that share the database; the same again after a restart.
    """

    def __init__(self, url: str, executor: str) -> None:
        self._url = url
        self._executor = executor
        self._is_launched = False

    @property
    def executor(self) -> str:
        """The name of this process."""
        return self._executor

    async def launch(self, register: Sequence[Callable[[], object]] = ()) -> None:
        """Start DBOS: what this process left unfinished goes on at once, in the running loop.

        Args:
            register: import modules with workflows, which have to be known before they can go on.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database cannot be used.
        """
        for each in register:
            each()
        made = DBOS(config=self._config())
        self._is_launched = True
        _sweep_seldom(_workflow_commands)
        DBOS.launch()
        _look_for_no_queues(made)
        _go_on_when_it_answers(made)
        await asyncio.sleep(0)

    async def aclose(self, wait: int = 0) -> None:
        """Stop; what is unfinished stays recorded.

        Args:
            wait: seconds that workflows may take to end.
        """
        if self._is_launched:
            self._is_launched = False
            # DBOS makes its executor that of the loop, and shuts it down: what else runs in the loop needs another one.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
            await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=wait)

    def _config(self) -> DBOSConfig:
        config: DBOSConfig = {
            "name": "wirewright",
            "executor_id": self._executor,
            "application_version": PROTOCOL,
            "serializer": JsonValues(),
            "log_level": "ERROR",
            "enable_otlp": False,
            "scheduler_polling_interval_sec": IDLE_SECONDS,
            "notification_coalesce_sec": NOTICE_SECONDS,
        }
        own = durable_file(self._url)
        if own is None:
            config["system_database_url"] = make_url(self._url).render_as_string(hide_password=False)
            config["dbos_system_schema"] = durable_schema(self._url)
            return config
        config["system_database_url"] = f"sqlite:///{own}"
        config["system_database_engine"] = _sqlite_engine(str(own))
        own.touch(mode=0o600)
        close_to_others(own)
        return config


def _sweep_seldom(module: Any) -> None:
    """Let DBOS not look each second for workflows that are delayed or take too long: there are none."""
    module._BACKGROUND_JOBS_INTERVAL_SEC = SWEEP_SECONDS


def _go_on_when_it_answers(dbos: Any) -> None:
    """Let a workflow wait for a database that cannot be reached, whatever the driver says of it.

    DBOS waits by itself after a connection is lost, and knows some of the texts with which no new one is made.
    """

    @event.listens_for(dbos._sys_db.engine, "handle_error")
    def note(context: ExceptionContext) -> None:
        if context.connection is None:
            context.is_disconnect = True


def _look_for_no_queues(dbos: Any) -> None:
    """Let DBOS not ask the database each second for queues that are stored there: there are none."""

    def none(**_: object) -> list[object]:
        return []

    dbos._sys_db.list_queues = none


def _sqlite_engine(file: str) -> Engine:
    engine = create_engine(f"sqlite:///{file}")

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: object) -> None:
        connection.isolation_level = "IMMEDIATE"  # as DBOS sets it for engines of its own
        for pragma in (
            f"busy_timeout={BUSY_MILLISECONDS}",
            "foreign_keys=ON",
            "journal_mode=WAL",
            "synchronous=NORMAL",
        ):
            connection.execute(f"PRAGMA {pragma}")

    return engine
