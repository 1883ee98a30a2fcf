"""Requests to a Langflow server, with its key and typed answers."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.egress.outgoing import checks_addresses
from runtime.gateway.limits.responses import limit_bodies
from runtime.langflow.catalogue import read_catalogue
from runtime.langflow.connections import Connection
from runtime.langflow.documents import (
    FlowHead,
    Project,
    ProviderModels,
    RemoteFlow,
    RunAnswer,
    Variable,
    Version,
)
from runtime.langflow.errors import LangflowError
from runtime.langflow.failures import failures, not_langflow, refused

T = TypeVar("T")

SECONDS: Final = 60.0
"""How long an answer may take in all."""
SILENCE_SECONDS: Final = 30.0
"""How long a server may be silent."""
_API: Final = "/api/v1"
_FLOWS: Final = f"{_API}/flows/"


class LangflowServer:
    """A Langflow server. Redirections are not followed: the key goes to this address alone.

    Args:
        connection: its address and key.
        client: sends the requests.
        seconds: how long an answer may take in all.
    """

    def __init__(self, connection: Connection, client: httpx.AsyncClient, seconds: float = SECONDS) -> None:
        self.connection = connection
        self._client = client
        self._seconds = seconds

    async def version(self) -> str:
        """The version of Langflow.

        Raises:
            LangflowError: it is no Langflow; as for every method, or it cannot be reached or refuses the request.
        """
        answer = await self._read(Version, "GET", f"{_API}/version", what="its version")
        if "langflow" not in answer.package.lower():
            raise not_langflow(self.connection.url)
        return answer.version

    async def check_key(self) -> None:
        """Ask for something that every key may read.

        Raises:
            LangflowError: the key is not taken.
        """
        await self.projects()

    async def projects(self) -> list[Project]:
        """The projects of the key's user."""
        return await self._read(list[Project], "GET", f"{_API}/projects/", what="projects")

    async def flows(self) -> list[FlowHead]:
        """The flows of the key's user, without Langflow's own examples."""
        asked = {"header_flows": "true", "get_all": "true", "remove_example_flows": "true"}
        heads = await self._read(list[FlowHead], "GET", _FLOWS, params=asked, what="flows")
        return [head for head in heads if not head.is_component]

    async def find(self, name: str) -> FlowHead:
        """The flow with an id or a name.

        Raises:
            LangflowError: there is none, or there are several.
        """
        heads = await self.flows()
        found = [one for one in heads if one.id == name] or [one for one in heads if one.name == name]
        if len(found) == 1:
            return found[0]
        if not found:
            fix = "`wirewright langflow flows` lists the flows there."
            raise LangflowError("flow_not_there", f"{self.connection.url} has no flow {name[:80]!r}.", fix)
        ids = ", ".join(one.id for one in found[:3])
        message = f"{len(found)} flows there are called {name[:80]!r}."
        raise LangflowError("flow_ambiguous", message, f"Name one by its id: {ids}.")

    async def flow(self, flow_id: str) -> RemoteFlow:
        """One flow with its nodes and edges."""
        return await self._read(RemoteFlow, "GET", _place(flow_id), what=f"the flow {flow_id[:80]}")

    async def update(self, seen: RemoteFlow, changes: Mapping[str, Any]) -> RemoteFlow:
        """Change a flow that is still as it was seen: the only request that changes one.

        Args:
            seen: the flow as it was read.
            changes: what is to be other: `name`, `description`, `data`, `folder_id`.

        Raises:
            LangflowError: it has changed meanwhile, is locked, or its new name is taken.
        """
        if seen.locked:
            raise locked(self.connection, seen)
        headers = {"If-Match": seen.version_token} if seen.version_token else {}
        return await self._read(
            RemoteFlow, "PATCH", _place(seen.id), json=dict(changes), headers=headers, what=f"the flow {seen.name!r}"
        )

    async def create(self, document: Mapping[str, Any]) -> RemoteFlow:
        """Add a flow.

        Args:
            document: `name`, `description`, `data`, and `folder_id` for another project than the usual one.
        """
        return await self._read(RemoteFlow, "POST", _FLOWS, json=dict(document), what="the flow")

    async def variables(self) -> list[str]:
        """The names of the variables of the key's user."""
        found = await self._read(list[Variable], "GET", f"{_API}/variables/", what="variables")
        return [one.name for one in found]

    async def add_variable(self, name: str, value: str) -> None:
        """Keep a secret there, as a variable.

        Args:
            name: its name.
            value: the secret.
        """
        body: dict[str, Any] = {"name": name, "value": value, "type": "Credential", "default_fields": []}
        await self._read(Variable, "POST", f"{_API}/variables/", json=body, what=f"the variable {name}")

    async def models(self) -> list[ProviderModels] | None:
        """The models that its flows can name; None from a version that does not list them."""
        try:
            return await self._read(list[ProviderModels], "GET", f"{_API}/models", what="models")
        except LangflowError as error:
            if error.code in {"flow_not_there", "langflow_redirects", "not_langflow"}:
                return None
            raise

    async def catalogue(self) -> Catalogue:
        """Its component types, with the code that it has of them."""
        found = await self._read(dict[str, Any], "GET", f"{_API}/all", what="component types")
        try:
            return read_catalogue(found, await self.version())
        except ValueError:
            raise not_langflow(self.connection.url) from None

    async def run(
        self,
        flow_id: str,
        text: str | None = None,
        *,
        session: str | None = None,
        tweaks: Mapping[str, JsonObject] | None = None,
        seconds: float = SECONDS,
    ) -> RunAnswer:
        """Run a flow there.

        Args:
            flow_id: the flow.
            text: what is typed into its chat.
            session: the session that it sees.
            tweaks: values for this run alone, by node and field.
            seconds: how long it may take.
        """
        body: dict[str, Any] = {
            "input_value": text or "",
            "input_type": "chat",
            "output_type": "chat",
            "tweaks": dict(tweaks or {}),
        }
        if session is not None:
            body["session_id"] = session
        place = f"{_API}/run/{quote(flow_id, safe='')}"
        return await self._read(
            RunAnswer, "POST", place, json=body, params={"stream": "false"}, what="the run", seconds=seconds
        )

    async def raw(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send any request; returns the answer, which was read.

        Args:
            method: the HTTP method.
            path: below the address.
            more: what httpx's `request` takes.
        """
        return await self._client.request(method, f"{self.connection.url}{path}", **more)

    async def _read(
        self, kind: type[T], method: str, path: str, *, what: str, seconds: float | None = None, **more: Any
    ) -> T:
        """Send a request, and read the answer."""
        allowed = self._seconds if seconds is None else seconds
        silence = SILENCE_SECONDS if seconds is None else seconds
        with failures(self.connection):
            async with asyncio.timeout(allowed):
                response = await self.raw(method, path, timeout=silence, **more)
            if response.status_code >= httpx.codes.MULTIPLE_CHOICES:
                raise refused(self.connection, response, what)
            return TypeAdapter(kind).validate_json(response.content)


@asynccontextmanager
async def opened(connection: Connection, seconds: float = SECONDS) -> AsyncGenerator[LangflowServer]:
    """A Langflow server with connections of its own, which are closed at the end.

    Args:
        connection: its address and key.
        seconds: how long an answer may take in all.
    """
    client = httpx.AsyncClient(
        headers={"x-api-key": connection.key, "User-Agent": "wirewright", "Accept": "application/json"},
        verify=_trusted(connection.url),
        trust_env=False,  # neither a proxy nor a .netrc may see or replace the key
        follow_redirects=False,
    )
    async with checks_addresses(limit_bodies(client)):
        yield LangflowServer(connection, client, seconds)


def locked(connection: Connection, flow: RemoteFlow) -> LangflowError:
    """The error for a flow that is locked."""
    message = f"The flow {flow.name!r} is locked at {connection.url}; nothing was sent."
    return LangflowError("flow_locked", message, "Unlock it there, in its settings.")


def _place(flow_id: str) -> str:
    return f"{_FLOWS}{quote(flow_id, safe='')}"


def _trusted(url: str) -> ssl.SSLContext | bool:
    """The authorities of certificates: httpx's or those of SSL_CERT_FILE, and the system's."""
    if not url.startswith("https:"):
        return True
    context = httpx.create_ssl_context(trust_env=True)
    context.load_default_certs()
    return context
