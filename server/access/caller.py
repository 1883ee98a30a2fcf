"""Who sends a request, and what of the server is theirs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.requests import Request

from agent.assistant import Assistant
from agent.models.keys import ProviderKeys
from runtime.accounts.user import User
from runtime.files.store import UserFiles
from runtime.keychain.user_variables import UserVariables
from server.settings import ServerSettings
from server.state import ServerState, server_state
from server.store.flows import FlowStore


@dataclass(frozen=True)
class Caller:
    """The user of one request, with the user's own stores: nothing of others can be reached through them.

    Attributes:
        state: what the routes share.
        user: who sent the request.
    """

    state: ServerState
    user: User

    @property
    def id(self) -> str:
        """What the user's data is stored under."""
        return self.user.id

    @property
    def assistant(self) -> Assistant:
        """Takes turns and runs flows; its methods take the user's id."""
        return self.state.assistant

    @property
    def settings(self) -> ServerSettings:
        """The server's settings."""
        return self.state.settings

    @property
    def stopping(self) -> asyncio.Event:
        """Set when the server stops."""
        return self.state.stopping

    @property
    def files(self) -> UserFiles:
        """The user's files."""
        return UserFiles(self.settings.data, self.user.id, self.settings.file_limits)

    @property
    def variables(self) -> UserVariables:
        """The user's variables."""
        return self.assistant.variables(self.user.id)

    @property
    def keys(self) -> ProviderKeys:
        """The keys of providers that the user has stored."""
        return self.assistant.keys_of(self.user.id)

    async def flows(self) -> FlowStore:
        """The user's stored flows; the database is opened when it is first needed.

        Raises:
            StoreUnavailable: it cannot be opened.
        """
        return await flow_store(self.state, self.user.id)


async def flow_store(state: ServerState, owner: str) -> FlowStore:
    """The stored flows of a user; the database is opened when it is first needed.

    Raises:
        StoreUnavailable: it cannot be opened.
    """
    await state.assistant.database.open()
    from server.store.sql import SqlFlowStore

    return SqlFlowStore(state.assistant.database, owner, state.settings.flows_limit, state.flow_changes)


def caller_of(request: Request) -> Caller:
    """Who sent a request; the token check has found the user."""
    return Caller(server_state(request), request.user)
