"""What the tests of limits share: clocks that tests set."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx

from runtime.accounts.scopes import Scope, scopes_of
from server.state import ServerState
from tests.server.live import Live


class Seconds:
    """A clock that never goes back, and that tests move."""

    def __init__(self) -> None:
        self.now = 1000.25

    def __call__(self) -> float:
        return self.now


class Calendar:
    """The time in UTC, which tests set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 26, 22, 30, 0, 500_000, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def state_of(live: Live) -> ServerState:
    """The state of a running server."""
    return live.server.config.app.state.server  # type: ignore[union-attr]  # uvicorn's type


@asynccontextmanager
async def user(live: Live, name: str, *scopes: Scope) -> AsyncGenerator[httpx.AsyncClient]:
    """A client with the token of a new user."""
    assert live.access.users is not None
    _, token = await live.access.users.add(name, scopes_of(scopes or ("build", "run")))
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=live.client.base_url, timeout=30, trust_env=False, headers=headers) as made:
        yield made
