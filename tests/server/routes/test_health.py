"""Alive, and ready."""

import asyncio
from pathlib import Path

import anyio
import pytest

from flows.catalogue import Catalogue
from runtime.database.database import Database
from runtime.install.release import release
from runtime.results import RunError
from server import readiness
from server.errors import RETRY_SECONDS
from server.readiness import FIXES, MESSAGES, DatabaseProbe
from server.settings import ServerSettings
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("state", ["new", "installing", "starting", "closed"])
async def test_the_server_lives_but_is_not_ready_while_the_runner_is_not(state: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, runner=StandInRunner(state=state))) as live:
        assert (await live.client.get("/healthz")).status_code == 200
        reply = await live.client.get("/readyz")
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, RETRY_SECONDS)
    assert reply.json() == {
        "ready": False, "runner": state, "database": "ready", "message": MESSAGES[state], "fix": FIXES[state],
        "failing": ["runner"],
    }  # fmt: skip


async def test_the_server_is_ready_when_flows_can_run(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.stranger.get("/readyz")
    ready = {"ready": True, "runner": "ready", "database": "ready", "message": MESSAGES["ready"]}
    assert (reply.status_code, reply.json()) == (200, ready)


async def test_liveness_names_the_release_and_asks_nothing(catalogue: Catalogue) -> None:
    who = assistant(catalogue, runner=StandInRunner(state="failed"))
    async with serving(who) as live:
        await who.database.aclose()
        reply = await live.stranger.get("/healthz")
    assert (reply.status_code, reply.json()) == (200, {"ok": True, "release": release()})


async def test_a_runner_that_failed_says_why_and_what_to_do(catalogue: Catalogue) -> None:
    failure = RunError(code="crash", message="It could not be installed.", fix="wirewright runner install")
    async with serving(assistant(catalogue, runner=StandInRunner(state="failed", failure=failure))) as live:
        reply = await live.client.get("/readyz")
    assert (reply.status_code, reply.json()["failing"]) == (503, ["runner"])
    assert (reply.json()["message"], reply.json()["fix"]) == (failure.message, failure.fix)


async def test_a_database_that_cannot_be_used_is_named_before_the_runner_that_needs_none(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    settings = ServerSettings(database=f"sqlite+aiosqlite:///{tmp_path}/file/wirewright.db")
    who = assistant(catalogue, runner=StandInRunner(state="starting"))
    who.database = Database(settings.database_url, settings.data)
    async with serving(who, settings) as live:
        reply = await live.client.get("/readyz")
    assert reply.status_code == 503
    facts = reply.json()
    assert (facts["database"], facts["failing"]) == ("failed", ["database", "runner"])
    assert facts["message"]
    assert facts["fix"]
    assert str(tmp_path) not in reply.text, "a path is for the log"


async def test_a_database_whose_file_was_removed_is_not_ready(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "KNOWN_SECONDS", 0.0)
    async with serving(assistant(catalogue)) as live:
        assert (await live.client.get("/readyz")).status_code == 200
        for file in ServerSettings().data.glob("wirewright.db*"):
            file.unlink()
        reply = await live.client.get("/readyz")
    assert (reply.status_code, reply.json()["database"]) == (503, "failed")
    assert "restore the file" in reply.json()["fix"]


class Stuck(Database):
    """A database that answers once it is let."""

    asked = 0

    async def check(self) -> None:
        """Wait, then write."""
        self.asked += 1
        await released.wait()
        await super().check()


released = asyncio.Event()


async def test_a_database_that_does_not_answer_is_not_waited_for_and_is_asked_once() -> None:
    released.clear()
    database = Stuck(ServerSettings().database_url, ServerSettings().data)
    probe = DatabaseProbe(database, seconds=0.05, opening=0.05)
    first, second = await asyncio.gather(probe.part(), probe.part())
    assert (first.state, second.state) == ("slow", "slow")
    assert database.asked == 1
    released.set()
    with anyio.fail_after(30):
        while (await probe.part()).state != "ready":
            pass
    await probe.aclose()
    await database.aclose()
