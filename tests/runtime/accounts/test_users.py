"""The users in the database: unique names, tokens of which only digests are stored, ends and revocations."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runtime.accounts.scopes import EVERY_SCOPE, UnknownScope, scopes_of
from runtime.accounts.user import UserError
from runtime.accounts.users import LONGEST_DAYS, Users
from runtime.database.database import Database
from tests.databases.stored import query

pytestmark = pytest.mark.anyio


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 25, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def users(database_url: str, tmp_path: Path, clock: Clock) -> AsyncGenerator[Users]:
    database = Database(database_url, tmp_path)
    yield Users(database, clock)
    await database.aclose()


async def test_a_token_finds_its_user_and_is_not_stored(users: Users, tmp_path: Path, database_url: str) -> None:
    ada, token = await users.add("ada@example.org")
    found = await users.by_token(token.encode())
    assert found is not None
    assert found[0] == ada
    rows = repr(query(database_url, "SELECT * FROM users")).encode()
    stored = rows + b"".join(path.read_bytes() for path in sorted(tmp_path.glob("w.db*")))  # noqa: ASYNC240  (a few small files)
    assert token.encode() not in stored
    assert token.rpartition("-")[2].encode() not in stored
    assert b"ada@example.org" in stored


@pytest.mark.parametrize("change", ["x", "", "another"])
async def test_a_wrong_token_finds_nobody(users: Users, change: str) -> None:
    ada, token = await users.add("ada")
    _, other = await users.add("eve")
    mixed = f"ww-{ada.id}-{other.rpartition('-')[2] if change == 'another' else token[36:-1] + change}"
    assert await users.by_token(mixed.encode()) is None
    for nonsense in (b"", b"ww-", token.encode()[:-1], token.encode() + b"\n", b"\xff" * 79, token.upper().encode()):
        assert await users.by_token(nonsense) is None


async def test_names_are_unique_whatever_their_case_and_the_first_user_is_not_among_them(users: Users) -> None:
    await users.add("Ada")
    for name, code in (("ada", "name_taken"), ("LOCAL", "name_taken"), ("", "invalid_name"), ("a b", "invalid_name")):
        with pytest.raises(UserError) as refused:
            await users.add(name)
        assert refused.value.code == code
    assert [user.name for user in await users.entries()] == ["Ada"]


async def test_a_token_ends_when_its_days_are_over(users: Users, clock: Clock) -> None:
    _, token = await users.add("ada", days=30)
    clock.now += timedelta(days=30, seconds=-1)
    assert await users.by_token(token.encode()) is not None
    assert await users.are_there()
    clock.now += timedelta(seconds=1)
    assert await users.by_token(token.encode()) is None
    assert not await users.are_there()


@pytest.mark.parametrize("days", [0, -1, LONGEST_DAYS + 1])
async def test_days_that_make_no_sense_are_refused(users: Users, days: int) -> None:
    with pytest.raises(UserError, match="1 to"):
        await users.add("ada", days=days)
    assert await users.entries() == []


async def test_a_revoked_user_is_out_until_a_new_token_is_made(users: Users) -> None:
    before, token = await users.add("ada")
    first = await users.revoke("ADA")
    assert (await users.revoke("ada")).revoked_at == first.revoked_at, "the first time is kept"
    assert await users.by_token(token.encode()) is None
    after, fresh = await users.rotate("ada", days=1)
    assert (after.id, after.revoked_at) == (before.id, None), "what the user has stays the user's"
    assert await users.by_token(token.encode()) is None
    assert await users.by_token(fresh.encode()) is not None


@pytest.mark.parametrize("act", ["revoke", "rotate"])
async def test_somebody_who_does_not_exist_cannot_be_changed(users: Users, act: str) -> None:
    with pytest.raises(UserError) as refused:
        await getattr(users, act)("nobody")
    assert refused.value.code == "user_not_found"


def test_scopes_include_others() -> None:
    assert scopes_of(["build"]) == {"read", "build"}
    assert scopes_of([" Run ", "read"]) == {"read", "run"}
    assert scopes_of(["admin"]) == EVERY_SCOPE
    for given in ([], [""], ["write"], ["read", ""]):
        with pytest.raises(UnknownScope, match="read, build, run, admin"):
            scopes_of(given)
