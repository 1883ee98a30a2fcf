"""A user who is deleted while something of theirs goes on: it ends, and leaves nothing."""

import anyio
import httpx
import pytest
from sqlalchemy import Connection

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.archive.owned import count_rows
from runtime.archive.user_data import delete_user
from server.settings import ServerSettings
from tests.databases.secrets import opened
from tests.server.live import FLOWS, STREAM, frames, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]


async def rows_of(user: str) -> dict[str, int]:
    """How many rows a user has, by table."""
    settings = ServerSettings()
    async with opened(settings.database_url, settings.data) as database, database.reading() as connection:

        def count(sync: Connection) -> dict[str, int]:
            return count_rows(sync, user)

        return await connection.run_sync(count)


async def delete(user: str) -> None:
    """Delete a user as the command does, in a process of its own."""
    settings = ServerSettings()
    async with opened(settings.database_url, settings.data) as database:
        await delete_user(database, settings.data, user)


async def test_a_turn_whose_user_is_deleted_leaves_nothing(
    catalogue: Catalogue, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_MEMORY", "file")
    script = ScriptedModel("question", "An answer.", blocks_at=1)
    async with serving(assistant(catalogue, script, StandInRunner(results=[ran("x")]))) as live:
        users = live.access.users
        assert users is not None
        user, token = await users.add("ada")
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=live.client.base_url, trust_env=False, headers=headers) as ada:
            flow = (await ada.post(FLOWS, json=echo)).json()["id"]
            body = {"input_value": "What does it do?", "session_id": "s", "turn_id": "t", "flow_id": flow}
            async with ada.stream("POST", STREAM, json=body) as stream:
                told = frames(stream)
                await anext(told)
                with anyio.fail_after(30):
                    await script.blocked.wait()
                await delete(user.id)
                script.released.set()
                with anyio.fail_after(30):
                    assert [event async for event in told][-1]["event"] in ("complete", "error")
            refused = await ada.get(FLOWS)
    assert refused.status_code == 401
    assert await rows_of(user.id) == {}


async def test_a_run_whose_user_is_deleted_leaves_nothing(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(hangs=True)
    async with serving(assistant(catalogue, ScriptedModel(), runner)) as live:
        users = live.access.users
        assert users is not None
        user, token = await users.add("ada")
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=live.client.base_url, trust_env=False, headers=headers) as ada:
            flow = (await ada.post(FLOWS, json=echo)).json()["id"]
            begun = await ada.post(f"{FLOWS}/{flow}/run", json={"input_value": "hello", "wait": False})
            assert begun.status_code == 202
            with anyio.fail_after(30):
                await runner.running.wait()
            await delete(user.id)
    assert await rows_of(user.id) == {}, "the end of the server has ended the run"
