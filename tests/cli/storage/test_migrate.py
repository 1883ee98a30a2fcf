"""`wirewright migrate`: a process of its own, which says what is pending or does it."""

import asyncio

import pytest

from agent.settings import AssistantSettings
from runtime.database.schema import HEAD
from tests.cli.conftest import Wirewright
from tests.databases.earlier import at_revision
from tests.databases.stored import query

pytestmark = pytest.mark.both_databases


def settings() -> AssistantSettings:
    return AssistantSettings()


def test_what_is_pending_is_said_and_then_done(wirewright: Wirewright) -> None:
    asyncio.run(at_revision(settings().database_url, "0005", settings().data))
    check = wirewright("migrate", "--check", "--json")
    assert (check.code, check.json["ok"], check.json["revision"], check.json["current"]) == (1, False, "0005", HEAD)
    assert [step["revision"] for step in check.json["steps"]][:2] == ["0006", "0007"]
    assert all(step["title"] for step in check.json["steps"])
    assert "wirewright migrate" in wirewright("migrate", "--check").err
    assert query(settings().database_url, "select version_num from alembic_version") == [("0005",)]
    done = wirewright("migrate", "--json")
    assert (done.code, done.json) == (0, {**check.json, "ok": True})
    assert query(settings().database_url, "select version_num from alembic_version") == [(HEAD,)]
    again = wirewright("migrate", "--check", "--json")
    assert (again.code, again.json["ok"], again.json["steps"]) == (0, True, [])


def test_an_empty_database_gets_its_tables(wirewright: Wirewright) -> None:
    check = wirewright("migrate", "--check", "--json")
    assert (check.code, check.json["revision"]) == (1, None)
    assert not (settings().data / "wirewright.db").exists(), "nothing was made"
    assert wirewright("migrate").code == 0
    assert wirewright("migrate", "--check").code == 0


def test_a_later_schema_is_refused(wirewright: Wirewright) -> None:
    assert wirewright("migrate").code == 0
    query(settings().database_url, "update alembic_version set version_num = '9999'")
    for arguments in (["migrate"], ["migrate", "--check"]):
        done = wirewright(*arguments, "--json")
        assert (done.code, done.json["error"]["code"]) == (1, "store_unavailable")
        assert "9999" in done.json["error"]["message"]


def test_commands_on_postgres_name_the_remedy_for_an_earlier_schema(wirewright: Wirewright, storage: str) -> None:
    asyncio.run(at_revision(settings().database_url, "0005", settings().data))
    done = wirewright("users", "list", "--json")
    if storage == "sqlite":
        assert (done.code, done.json) == (0, {"users": []})
    else:
        assert (done.code, done.json["error"]["code"]) == (1, "store_unavailable")
        assert "wirewright migrate" in done.json["error"]["fix"]
