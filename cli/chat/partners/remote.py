"""A server, as the partner of a conversation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final
from uuid import uuid4

from agent.contract.endings import turn_result
from agent.contract.events import CancelledEvent, CompleteEvent, ErrorEvent, Event
from agent.contract.requests import AssistRequest
from agent.turn.record import TurnRecord
from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from cli.chat.partners.partner import Loaded, Shown, Standing
from cli.engine import ready_catalogue
from cli.errors import BadUsage, CommandError
from cli.output.turn import Readable
from cli.remote.ask import JsonLines, Shows, Start, Words
from cli.remote.canvas import RemoteCanvas
from cli.remote.connection import Server
from cli.remote.stores.conversations import RemoteConversations
from cli.remote.stores.files import RemoteFiles
from cli.remote.stores.flows import RemoteFlows
from cli.remote.stores.models import RemoteModels
from cli.remote.turns import RemoteTurn
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.files.store import Written

FRESH_SECONDS: Final = 10.0
"""How long the names of files and models are taken for true while something is typed."""


class Nothing:
    """Shows nothing of a turn."""

    def show(self, event: Event, canvas: RemoteCanvas, _: TurnResult | None, /) -> None:
        """Show nothing."""
        canvas.shown(event)

    def cancelled(self, record: TurnRecord) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Nothing to restore."""


class ServerTurn:
    """One turn on a server.

    Args:
        server: takes it.
        request: asks for it.
    """

    def __init__(self, server: Server, request: TurnRequest) -> None:
        self._server = server
        self._request = request
        self._canvas = RemoteCanvas(request.flow or Flow.empty())
        asked = {"turn_id": uuid4().hex, "resumable": True}
        if request.flow_id is not None:
            asked |= {"flow": None, "flow_id": request.flow_id, "keep_canvas": False}
        self._turn = RemoteTurn(server, AssistRequest.of(request).model_copy(update=asked))

    @property
    def canvas(self) -> Flow:
        """The canvas with every change so far."""
        return self._canvas.flow

    @property
    def record(self) -> TurnRecord:
        """What was done so far, as the server told at the end."""
        return self._turn.record

    async def take(self, shown: Shown) -> TurnResult | None:
        """Take it, and show it. Cancelling this stops it on the server.

        Raises:
            CommandError: the server refuses it, or the connection was lost for too long.
        """
        shows = _shows(shown)
        result: TurnResult | None = None
        request = await self._as_stored()
        try:
            async with aclosing(self._turn.events()) as events:
                async for event in events:
                    if isinstance(event, CompleteEvent | ErrorEvent):
                        result = await self._ended(request, event)
                    elif isinstance(event, CancelledEvent) and shown != "nothing":
                        shows.close()
                    shows.show(event, self._canvas, result)
        except asyncio.CancelledError:
            if shown == "json":
                shows.cancelled(self._turn.record)
            raise
        finally:
            shows.close()
        return result

    async def _as_stored(self) -> TurnRequest:
        """The request with the flow as it is stored now, because others may have changed it."""
        if self._request.flow_id is None:
            return self._request
        flow = await asyncio.to_thread(RemoteFlows(self._server).get, self._request.flow_id)
        self._canvas.flow = Flow.from_json(flow.flow)
        return self._request.model_copy(update={"flow": self._canvas.flow})

    async def _ended(self, request: TurnRequest, event: CompleteEvent | ErrorEvent) -> TurnResult:
        """The result, in the language of the conversation."""
        result = turn_result(request, event)
        if isinstance(event, CompleteEvent):
            self._canvas.flow = result.after
        standing = await asyncio.to_thread(RemoteConversations(self._server).state, request.session)
        return result if standing is None else result.model_copy(update={"language": standing.language})


class ServerPartner:
    """A server.

    Args:
        server: takes the turns.
    """

    keeps = True

    def __init__(self, server: Server) -> None:
        self._server = server
        self._conversations = RemoteConversations(server)
        self._known: dict[str, tuple[float, Sequence[str]]] = {}

    @property
    def place(self) -> str:
        """The options that lead back here."""
        return f" --server {self._server.origin}"

    def turn(self, request: TurnRequest) -> ServerTurn:
        """A turn, which begins when it is taken."""
        return ServerTurn(self._server, request)

    async def standing(self, session: str) -> Standing:
        """How a conversation stands; a stored flow that it is about is its canvas."""
        return await asyncio.to_thread(self._standing, session)

    async def catalogue(self) -> Catalogue:
        """The component types of this machine's engine, for the defaults of fields."""
        return await asyncio.to_thread(ready_catalogue)

    async def load(self, name: str) -> Loaded:
        """A flow from a file of Langflow JSON, or one that the server stores."""
        return await asyncio.to_thread(self._load, name)

    async def store(self, flow: Flow, name: str, /) -> Loaded:
        """Store a flow as a new one."""
        return await asyncio.to_thread(self._store, flow, name)

    async def forget(self, session: str) -> None:
        """Delete a conversation."""
        await asyncio.to_thread(self._conversations.reset, session, "session")

    async def reset(self, session: str, _: Flow | None, /) -> None:
        """Delete a conversation, and the components created for the user that no stored flow uses."""
        await asyncio.to_thread(self._conversations.reset, session, "all")

    async def model(self, name: str | None) -> str:
        """The model that answers, in words."""
        found = await asyncio.to_thread(RemoteModels(self._server).overview)
        named = name or found.default
        if named is None:
            error = found.error
            raise CommandError(
                "no_model" if error is None else error.code,
                "The server has no model." if error is None else error.message,
                fix="Name another one." if error is None else error.fix,
            )
        provider = named.partition(":")[0]
        ready = [one.name for one in found.providers if one.configured]
        if provider not in (*ready, "demo"):
            fix = f"Available providers: {', '.join(ready) or 'demo only'}."
            raise CommandError("provider_not_configured", f"The server has no provider {provider[:40]!r}.", fix=fix)
        return f"{named}{' (the demo planner, not a language model)' if provider == 'demo' else ''}"

    def models(self) -> Sequence[str]:
        """The models that can be chosen."""
        found = self._recent("models")
        if found is None:
            try:
                found = RemoteModels(self._server).names()
            except CommandError:
                found = ["demo"]
            self._known["models"] = (time.monotonic(), found)
        return found

    def files(self) -> Sequence[str]:
        """The paths of the user's files on the server; none while they cannot be read."""
        found = self._recent("files")
        if found is None:
            try:
                found = [path for path, _ in RemoteFiles(self._server).listing()]
            except CommandError:
                found = []
            self._known["files"] = (time.monotonic(), found)
        return found

    def add_file(self, path: str) -> Written:
        """Send a file of this machine."""
        added = RemoteFiles(self._server).add(path, where="/file")
        self._known.pop("files", None)
        return added

    def _recent(self, kind: str) -> Sequence[str] | None:
        known = self._known.get(kind)
        return None if known is None or time.monotonic() - known[0] > FRESH_SECONDS else known[1]

    def _standing(self, session: str) -> Standing:
        state = self._conversations.state(session)
        if state is None:
            return Standing()
        found = self._conversations.last(session)
        canvas, flow_id = state.canvas, found.flow_id
        if flow_id is not None:
            try:
                canvas = Flow.from_json(RemoteFlows(self._server).get(flow_id).flow)
            except CommandError as error:
                if error.code != "flow_not_found":
                    raise
                flow_id = None
        return Standing(
            title=found.title,
            turns=found.messages,
            last=found.said,
            approvals=state.asked,
            proposal=state.proposal,
            proposal_id=state.proposal_id or "",
            canvas=canvas,
            flow_id=flow_id,
            language=state.language,
        )

    def _load(self, name: str) -> Loaded:
        start = Start(self._server, name)
        path = None if start.flow_id is not None else Path(name)
        return Loaded(canvas=start.canvas, flow_id=start.flow_id, path=path)

    def _store(self, flow: Flow, name: str) -> Loaded:
        from pydantic_core import to_json

        flows = RemoteFlows(self._server)
        document = {**flow.raw, "name": name} if name else flow.raw
        if not name and not flow.name:
            raise BadUsage("usage", "/store needs a name for this flow.", fix="Such as: /store Echo")
        entry = flows.import_content(to_json(document)).flows[0]
        return Loaded(canvas=Flow.from_json(flows.get(entry.id).flow), flow_id=entry.id)


def _shows(shown: Shown) -> Shows:
    match shown:
        case "json":
            return JsonLines()
        case "words":
            return Words(Readable(interactive=True))
        case _:
            return Nothing()
