"""Jobs over MCP: listed, read, cancelled and tried again, by those whose jobs they are."""

import pytest

from flows.catalogue import Catalogue
from runtime.accounts.user import LOCAL
from runtime.jobs.claims import Claims
from runtime.jobs.job import NewJob, Outcome
from runtime.jobs.rows import Jobs
from tests.server.mcp.clients import WITH_SESSIONS, WITHOUT, talking
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", [WITH_SESSIONS, WITHOUT])
async def test_a_client_finds_a_job_reads_what_it_gave_cancels_one_that_waits_and_tries_it_again(
    mode: str, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_WORK_HERE", "false")
    who = assistant(catalogue)
    await who.database.open()
    jobs = Jobs(who.database)
    await jobs.add([NewJob(id=name, owner=LOCAL.id, kind="run", queue="runs", flow="f") for name in ("one", "two")])
    await jobs.add([NewJob(id="theirs", owner="eve", kind="run", queue="runs")])
    async with talking(who, mode) as talk:
        listed = await talk.give("list_jobs", state="queued")
        assert ([one["id"] for one in listed["jobs"]], listed["total"]) == (["two", "one"], 2)
        claims = Claims(who.database, "worker")
        [claim] = await claims.claim(["runs"], 1)
        shown = await talk.give("get_job", job_id=claim.id)
        assert (shown["job"]["state"], shown["job"]["worker"]) == ("running", "worker")
        await claims.finish(claim, Outcome(result={"output": "HELLO"}))
        shown = await talk.give("get_job", job_id=claim.id)
        assert (shown["job"]["state"], '"output": "HELLO"' in shown["text"]) == ("done", True)
        assert (await talk.give("cancel_job", job_id="two"))["job"]["state"] == "cancelled"
        assert "ended already" in await talk.refuse("cancel_job", job_id="two")
        assert (await talk.give("retry_job", job_id="two"))["job"]["state"] == "queued"
        assert "not tried again" in await talk.refuse("retry_job", job_id="one")
        for name in ("get_job", "cancel_job", "retry_job"):
            assert "no job 'theirs'" in await talk.refuse(name, job_id="theirs")
    assert (await jobs.get("eve", "theirs")).state == "queued"


async def test_a_failed_job_says_why(catalogue: Catalogue) -> None:
    who = assistant(catalogue)
    await who.database.open()
    await Jobs(who.database).add([NewJob(id="one", owner=LOCAL.id, kind="run", queue="runs")])
    claims = Claims(who.database, "worker")
    [claim] = await claims.claim(["runs"], 1)
    await claims.finish(claim, Outcome(error="The flow is not stored any more."))
    async with talking(who) as talk:
        shown = await talk.give("get_job", job_id="one")
        assert (shown["job"]["error"], "It failed: The flow" in shown["text"]) == (
            "The flow is not stored any more.",
            True,
        )
