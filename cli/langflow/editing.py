"""`ask` and `chat` with `--langflow FLOW`: turns on a flow of a Langflow server, which gets one update for each."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import DONE, FAILED, WAITING, CommandError
from cli.langflow.push import sent_words, show_update
from cli.langflow.sending import Sending, prepared, remember, sent
from cli.langflow.servers import asked, connection_named, langflow_errors
from flows.document import Flow
from runtime.langflow.changes import LINK, content_digest
from runtime.langflow.client import opened
from runtime.langflow.exchange import Link, pulled, sendable

if TYPE_CHECKING:
    from agent.assistant import Assistant
    from agent.turn.result import TurnResult
    from runtime.langflow.client import LangflowServer
    from runtime.langflow.documents import RemoteFlow

_KEPT = "{name}.unsent.json"


class Editing:
    """A flow of a Langflow server that turns work on. Nothing is sent before a turn has ended without a question.

    Args:
        name: the flow there, by id or name.
        connection: the server; None for the only one.
        yes: whether it is sent although something that it names is missing there.

    Attributes:
        canvas: the flow as it was read or sent last, without secrets.
        code: the exit code of sending it.

    Raises:
        CommandError: there is no such flow, or it is locked.
    """

    def __init__(self, name: str, connection: str | None, *, yes: bool) -> None:
        self._there = connection_named(connection)
        self._yes = yes
        self._file: Path | None = None
        self.code = DONE

        async def read(server: LangflowServer) -> RemoteFlow:
            remote = await server.flow((await server.find(name)).id)
            await remember(remote)
            return remote

        remote = asked(self._there, read)
        if remote.locked:
            fix = "Unlock it there, in its settings."
            raise CommandError("flow_locked", f"The flow {remote.name!r} is locked there.", fix=fix, where="--langflow")
        with langflow_errors("--langflow"):
            self.canvas = pulled(self._there, remote)
        self._link = Link.of(self.canvas)

    async def canvas_for(self, assistant: Assistant, user: str, session: str) -> Flow:
        """The canvas of the next turn: the one that a question waits on, or the flow as it is there now.

        Args:
            assistant: knows the conversation.
            user: whose it is.
            session: the conversation.
        """
        state = await assistant.memory.load(user, session)
        link = None if state.canvas is None else Link.of(state.canvas)
        known = self._link
        if state.canvas is None or state.pending is None or link is None or known is None:
            return self.canvas
        if (link.url, link.flow) == (known.url, known.flow):
            self.canvas, self._link = state.canvas, link
        return self.canvas

    async def send(self, result: TurnResult, target: Path | None) -> str:
        """Send what the turn has changed, as one update; returns what became of it, in words.

        Args:
            result: how the turn ended.
            target: the file that the flow is written to as well, if any.
        """
        return await self.send_flow(result.after, target) if result.outcome == "complete" else ""

    async def send_flow(self, changed: Flow, target: Path | None = None) -> str:
        """Send what has changed, as one update to what is there; returns what became of it, in words.

        Args:
            changed: the flow as it is to be.
            target: the file that the flow is written to as well, if any.
        """
        if self._link is None:
            return ""
        flow, self.code = self.linked(changed), DONE
        if content_digest(flow) == self._link.base:
            return ""
        try:
            with langflow_errors("--langflow"):
                async with opened(self._there) as server:
                    update = await prepared(server, flow, Sending())
                    show_update(update)
                    sendable(update, self._there)
                    if any(not fault.is_error for fault in update.faults) and not self._yes:
                        self.code = WAITING
                        return f"Nothing was sent. {self._kept(flow, target)} --yes"
                    remote = await sent(server, update, Sending())
        except CommandError as error:
            self.code = FAILED
            return f"{error.message} {error.fix} {self._kept(flow, target)}".replace("  ", " ")
        with langflow_errors("--langflow"):
            self.canvas = pulled(self._there, remote)
        self._link = Link.of(self.canvas)
        if target is not None:
            _write(target, self.canvas)
        return sent_words(update, self._there, remote)

    def linked(self, flow: Flow) -> Flow:
        """A flow that says where it is from, as `flow push` reads it."""
        return flow if self._link is None else Flow({**flow.raw, LINK: self._link.to_json()})

    def _kept(self, flow: Flow, target: Path | None) -> str:
        """Keep the flow in a file; returns how it is sent from there."""
        self._file = path = target or self._file or _free(flow.name)
        _write(path, flow)
        command = shlex.join(["wirewright", "flow", "push", str(path), "--connection", self._there.name])
        return f"The flow is in {path}. To send it: {command}"


def _free(name: str) -> Path:
    """A file of this folder that does not exist yet."""
    plain = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:60].strip("-") or "flow"
    names = (_KEPT.format(name=plain if number == 1 else f"{plain}-{number}") for number in range(1, 1_000))
    return next((Path(one) for one in names if not Path(one).exists()), Path(_KEPT.format(name=plain)))


def _write(path: Path, flow: Flow) -> None:
    from cli.output.files import write_flow

    write_flow(path, flow)
