"""Keys in stored flows and conversations: in no byte of the data folder, also after a migration, and never lost."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.memory import ConversationState, Exchange, Pending
from agent.conversation.stored import StoredMemory
from agent.errors import AssistantUnavailable
from flows.actions import Configure
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.database.database import Database
from runtime.database.schema import HEAD
from runtime.keychain.master_key import CHECK_FILE, FILE, SecretKeyUnavailable
from server.settings import ServerSettings
from server.store.sql import SqlFlowStore
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant
from tools.approvals import EditApproval
from tools.undo_stack import TurnChanges, UndoStack

pytestmark = pytest.mark.anyio
SECRET = "correct-horse-battery-staple"


def flow_with(secret: str) -> Flow:
    template = {"api_key": {"name": "api_key", "type": "str", "password": True, "value": secret}}
    node = {"id": "A-1", "data": {"id": "A-1", "type": "SearchAPI", "node": {"template": template}}}
    return Flow.from_json({"name": "Search", "data": {"nodes": [node], "edges": []}})


def conversation_with(secret: str) -> ConversationState:
    edit = Configure("A-1", "api_key", "", secret)
    return ConversationState(
        turns=[Exchange(user="Set it", assistant=f"I set {secret}")],
        pending=Pending(
            text="Set it",
            intent="build_flow",
            messages=[],
            approvals={"a": EditApproval(edit=edit, reason="r")},
            canvas=flow_with(secret),
            proposal=flow_with(secret),
        ),
        undo_stack=UndoStack(done=[TurnChanges(turn=1, actions=[edit])]),
        canvas=flow_with(secret),
    )


def contents(data: Path) -> bytes:
    """Everything that the files of a folder hold."""
    return b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())


TO_0003 = """
drop table users;
drop table flow_revisions;
drop table usage;
drop table idempotency_keys;
drop table transcripts;
drop table transcript_messages;
drop table turns;
drop table turn_events;
drop table turn_effects;
drop table turn_steps;
drop table secrets;
drop table servers;
drop table langflow_links;
drop table langflow_bases;
drop table mcp_calls;
drop table mcp_baselines;
drop table jobs;
drop table batches;
drop table schedules;
drop table key_checks;
alter table runs drop column stop_asked;
drop index ix_runs_seen_at;
alter table runs drop column state;
alter table runs drop column started_at;
alter table runs drop column seen_at;
alter table runs drop column detail;
alter table flows drop column built_with;
alter table conversations drop column waiting;
drop index ix_messages_owner_session_number;
alter table messages drop column owner;
create index ix_messages_session_number on messages (session, number);
update alembic_version set version_num = '0003';
"""
"""Brings the tables, but not what is in them, to the schema before documents were encrypted."""


def database(data: Path) -> Database:
    return Database(f"sqlite+aiosqlite:///{data / 'wirewright.db'}", data)


async def written(data: Path, secret: str) -> tuple[str, int]:
    """Store a flow, a revision of it, and a conversation; what comes back is the same. Returns the flow's id."""
    made = database(data)
    try:
        store, memory = SqlFlowStore(made, "ada"), StoredMemory(made)
        entry = await store.add(flow_with(secret))
        entry = await store.replace(entry.id, flow_with(f"{secret}-2"), 1)
        await memory.save("ada", "s", conversation_with(secret))
        assert (await store.get(entry.id)).flow == flow_with(f"{secret}-2")
        assert await memory.load("ada", "s") == conversation_with(secret)
        assert await store.components_used({"SearchAPI", "Nothing"}) == {"SearchAPI"}
    finally:
        await made.aclose()
    return entry.id, entry.version


@given(secret=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=8, max_size=60))
@settings(max_examples=15)
def test_no_key_is_in_the_bytes_of_the_data_folder(tmp_path_factory: pytest.TempPathFactory, secret: str) -> None:
    data = tmp_path_factory.mktemp("data")
    asyncio.run(written(data, secret))
    found = contents(data)
    assert secret.encode() not in found
    assert json.dumps(secret)[1:-1].encode() not in found


async def test_what_an_earlier_version_stored_is_encrypted_when_it_is_opened(tmp_path: Path) -> None:
    flow_id, _ = await written(tmp_path, SECRET)
    file = tmp_path / "wirewright.db"
    plain = json.dumps(flow_with(SECRET).raw)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("update flows set document = ?", (plain,))
        connection.execute("update conversations set document = ?", (conversation_with(SECRET).model_dump_json(),))
        connection.execute(
            "insert into conversations (owner, session, set_aside, used, document) "
            "select owner, 'unreadable', 'then', used, ? from conversations",
            (f"{SECRET} {{",),
        )
        connection.execute(
            "insert into flows select 'gone', owner, name, 1, 1, 1, '', ?, null from flows", (plain * 40,)
        )
        connection.execute("delete from flows where id = 'gone'")
        connection.executescript(TO_0003)
    assert SECRET.encode() in contents(tmp_path)
    await asyncio.gather(*(opened(tmp_path) for _ in range(3)))
    assert SECRET.encode() not in contents(tmp_path)
    made = database(tmp_path)
    assert (await SqlFlowStore(made, "ada").get(flow_id)).flow == flow_with(SECRET)
    assert await StoredMemory(made).load("ada", "s") == conversation_with(SECRET)
    await made.aclose()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("select version_num from alembic_version").fetchall() == [(HEAD,)]


async def opened(data: Path) -> None:
    made = database(data)
    await made.open()
    await made.aclose()


async def test_a_migration_that_cannot_encrypt_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await written(tmp_path, SECRET)
    file = tmp_path / "wirewright.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("update flows set document = ?", (json.dumps(flow_with(SECRET).raw),))
        connection.executescript(TO_0003)
    monkeypatch.setenv("WIREWRIGHT_SECRET_KEY", "too short")
    with pytest.raises(SecretKeyUnavailable):
        await opened(tmp_path)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("select version_num from alembic_version").fetchall() == [("0003",)]
    monkeypatch.delenv("WIREWRIGHT_SECRET_KEY")
    await opened(tmp_path)
    assert SECRET.encode() not in contents(tmp_path)


async def test_without_the_key_only_what_it_protects_is_out_of_reach_until_it_is_back(
    catalogue: Catalogue, echo: dict[str, Any]
) -> None:
    data = ServerSettings().data
    async with serving(assistant(catalogue, memory=None)) as live:
        secret = (await live.client.post(FLOWS, json=flow_with(SECRET).raw)).json()["id"]
        plain = (await live.client.post(FLOWS, json=echo)).json()["id"]
    (data / FILE).rename(data / "lost")
    async with serving(assistant(catalogue)) as live:
        refused = await live.client.get(f"{FLOWS}/{secret}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "secret_key_unavailable")
        assert FILE in refused.json()["error"]["fix"]
        assert SECRET not in refused.text
        assert (await live.client.get(FLOWS)).json()["total"] == 2
        assert (await live.client.get(f"{FLOWS}/{plain}")).json()["flow"] == echo
        assert (await live.client.post(FLOWS, json=echo)).status_code == 201
        kept = await live.client.post(FLOWS, json=flow_with("another-key-to-keep").raw)
        assert kept.json()["error"]["code"] == "secret_key_unavailable"
    (data / "lost").rename(data / FILE)
    async with serving(assistant(catalogue)) as live:
        assert (await live.client.get(f"{FLOWS}/{secret}")).json()["flow"] == flow_with(SECRET).raw


async def test_a_conversation_is_not_set_aside_because_the_key_is_missing(tmp_path: Path) -> None:
    await written(tmp_path, SECRET)
    (tmp_path / FILE).rename(tmp_path / "lost")
    made = database(tmp_path)
    with pytest.raises(AssistantUnavailable) as refused:
        await StoredMemory(made).load("ada", "s")
    assert CHECK_FILE in refused.value.error.fix or FILE in refused.value.error.fix
    (tmp_path / "lost").rename(tmp_path / FILE)
    assert await StoredMemory(made).load("ada", "s") == conversation_with(SECRET)
    await made.aclose()
