"""The assistant of this machine, as the partner of a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from functools import cache, partial
from pathlib import Path

from agent.assistant import Assistant
from agent.errors import AssistantUnavailable, ModelChoiceError
from agent.models.overview import overview
from agent.turn.record import TurnRecord
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from cli.assistant import StartingPoint
from cli.chat.partners.partner import Loaded, Shown, Standing
from cli.errors import CommandError
from cli.files.local import add_file, file_paths, local_keys
from cli.output.turn import JsonEvents, Readable, Rendering
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.files.folders import LOCAL_USER
from runtime.files.store import Written


class LocalTurn:
    """One turn of the assistant of this machine.

    Args:
        assistant: takes it.
        request: asks for it.
    """

    def __init__(self, assistant: Assistant, request: TurnRequest) -> None:
        self._session = request.session
        self._events = assistant.turn(request)

    @property
    def canvas(self) -> Flow:
        """The canvas with every change so far."""
        return self._events.canvas

    @property
    def record(self) -> TurnRecord:
        """What was done so far."""
        return self._events.record

    async def take(self, shown: Shown) -> TurnResult | None:
        """Take it, and show it. Cancelling this stops it."""
        result: TurnResult | None = None
        rendering: Rendering | None = None
        if shown != "nothing":
            rendering = JsonEvents(self._session) if shown == "json" else Readable(interactive=True)
        try:
            async with self._events as events:
                async for event in events:
                    if isinstance(event, TurnEnded):
                        result = event.result
                    if rendering is not None:
                        rendering.show(event)
        except AssistantUnavailable as unavailable:
            raise refused(unavailable) from None
        except asyncio.CancelledError:
            if rendering is not None and shown == "json":
                rendering.cancelled(self.record)
            raise
        finally:
            if rendering is not None:
                rendering.close()
        return result


class LocalPartner:
    """The assistant of this machine.

    Args:
        assistant: takes the turns.
    """

    place = ""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._keys = cache(local_keys)

    @property
    def keeps(self) -> bool:
        """Whether a conversation can be gone on with later."""
        return self._assistant.settings.memory == "file"

    def turn(self, request: TurnRequest) -> LocalTurn:
        """A turn, which begins when it is taken."""
        try:
            return LocalTurn(self._assistant, request)
        except AssistantUnavailable as unavailable:
            raise refused(unavailable) from None

    async def standing(self, session: str) -> Standing:
        """How a conversation stands."""
        state = await self._assistant.memory.load(LOCAL_USER, session)
        offer = state.offers.open
        last = state.turns[-1] if state.turns else None
        return Standing(
            title=state.title,
            turns=state.turn_count,
            last=None if last is None else (last.user, last.assistant or "\n".join(last.notes)),
            approvals={} if state.pending is None else state.pending.unanswered,
            proposal=None if offer is None else offer.flow,
            proposal_id="" if offer is None else offer.id,
            canvas=state.canvas,
            language=next((turn.language for turn in reversed(state.turns) if turn.language), None),
        )

    async def catalogue(self) -> Catalogue:
        """The component types."""
        return await self._assistant.catalogue()

    async def load(self, name: str) -> Loaded:
        """A flow from a file, Langflow JSON or spec text."""
        start = await asyncio.to_thread(StartingPoint, name, None)
        await start.prepare(self._assistant)
        return Loaded(canvas=start.canvas, components=start.components, path=Path(name))

    async def store(self, _: Flow, __: str, /) -> Loaded:
        """Refuse it: flows are stored by servers."""
        raise CommandError("server_needed", "Flows are stored on a server.", fix="/save writes it to a file.")

    async def forget(self, session: str) -> None:
        """Delete a conversation."""
        await self._assistant.forget(LOCAL_USER, session)

    async def reset(self, session: str, canvas: Flow | None, /) -> None:
        """Delete a conversation, and the components created for the user that no flow uses."""
        await self._assistant.reset(LOCAL_USER, session, partial(self._used, canvas))

    async def model(self, name: str | None) -> str:
        """The model that answers, in words."""
        try:
            choice = await self._assistant.choose(name)
        except ModelChoiceError as unavailable:
            raise refused(unavailable) from None
        planner = " (the demo planner, not a language model)" if choice.is_demo else ""
        return f"{':'.join((choice.provider, *choice.names[:1]))}{planner}"

    def models(self) -> Sequence[str]:
        """The models that can be chosen: those that the configured providers offer by themselves, and `demo`."""
        found = overview(self._assistant.settings.model, self._keys().environment())
        return [*(f"{one.name}:{model}" for one in found.providers if one.configured for model in one.models), "demo"]

    def files(self) -> Sequence[str]:
        """The paths of the user's files."""
        return file_paths()

    def add_file(self, path: str) -> Written:
        """Copy a file into the user's."""
        return add_file(path, where="/file")

    async def _used(self, canvas: Flow | None, names: Collection[str]) -> set[str]:
        """Those of these component types that the canvas or a stored flow uses."""
        from server.store.sql import SqlFlowStore

        here = set[str]() if canvas is None else {node.type for node in canvas.nodes}
        store = SqlFlowStore(self._assistant.database, LOCAL_USER)
        return here.intersection(names) | await store.components_used(names)


def refused(unavailable: AssistantUnavailable) -> CommandError:
    """The error for a turn that cannot be taken."""
    error = unavailable.error
    return CommandError(error.code, error.message, fix=error.fix)
