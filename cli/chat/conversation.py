"""A conversation: sends messages and answers to the assistant, and keeps the canvas up to date."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from uuid import uuid4

from pydantic_ai import ToolApproved, ToolDenied

from agent.assistant import Assistant
from agent.contract.events import ErrorEvent
from agent.errors import AssistantUnavailable
from agent.language.replies import PlainReply, plain_reply
from agent.turn.record import TurnRecord
from agent.turn.request import Answer, TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from cli.chat.lines import EndOfInput, Lines
from cli.errors import BadUsage
from cli.files.local import add_file
from cli.output.files import write_flow
from cli.output.streams import print_json, print_message, print_result
from cli.output.turn import JsonEvents, Readable, Rendering, format_question
from flows.describe.diagrams import ascii_graph
from flows.document import Flow
from runtime.files.folders import LOCAL_USER
from tools.approvals import Approval

HELP = """Each line is a message, or a command:
  /show   draw the flow on the canvas
  /file PATH  add a file to yours; the next message is about it
  /undo   take back the changes of the last turn; again goes one turn further back
  /redo   make them again
  /reset  delete the conversation and the components created for you that no flow uses; the canvas stays
  /forget delete the conversation alone
  /quit   leave, as Ctrl-D does
Ctrl-C stops the assistant."""


@dataclass
class Conversation:
    """One conversation and its canvas.

    Attributes:
        canvas: the current flow; None before there is any.
        target: the file that the canvas is saved to.
        model: the model that `--model` names.
        components: the sources of the flow's own components.
        approve_all: approve everything without asking.
        as_json: print each event as a line of JSON, and nothing else on standard output.
        session: the conversation's id.
        attached: the user's files that the next message is about.
    """

    canvas: Flow | None = None
    target: Path | None = None
    model: str | None = None
    components: tuple[str, ...] = ()
    approve_all: bool = False
    as_json: bool = False
    session: str = field(default_factory=lambda: f"cli-{uuid4().hex}")
    attached: tuple[str, ...] = ()
    _failed: bool = False

    async def hold(self, assistant: Assistant, lines: Lines) -> bool:
        """Take turns until there are no more lines; returns whether the last one did not fail.

        Args:
            assistant: takes the turns.
            lines: the user's messages and answers.
        """
        if lines.interactive:
            print_message("Type a message; /help lists commands, Ctrl-D leaves.")
        while True:
            try:
                text = (await lines.next("> ")).strip()
                if text == "/quit":
                    raise EndOfInput
                if text and not await self._command(text, assistant, lines):
                    await self._turns(text, assistant, lines)
            except EndOfInput:
                return not self._failed

    async def _command(self, text: str, assistant: Assistant, lines: Lines) -> bool:
        """Carry out a line that begins with a slash; returns whether it was one."""
        match text:
            case "/help":
                print_message(HELP)
            case "/show":
                self._show()
            case _ if text.startswith("/file "):
                await self._attach(text.removeprefix("/file ").strip())
            case "/reset":
                await assistant.reset(LOCAL_USER, self.session, partial(self._used, assistant))
                print_message("The conversation and the components created for you are deleted.")
            case "/forget":
                await assistant.forget(LOCAL_USER, self.session)
                print_message("The conversation is deleted; the components created for you stay.")
            case "/undo" | "/redo":
                await self._turns(text.removeprefix("/"), assistant, lines)
            case _:
                if not text.startswith("/"):
                    return False
                print_message(f"Unknown command: {text.split()[0]}.\n{HELP}")
        return True

    async def _used(self, assistant: Assistant, names: Collection[str]) -> set[str]:
        """Those of these component types that the canvas or a stored flow uses."""
        from server.store.sql import SqlFlowStore

        here = set[str]() if self.canvas is None else {node.type for node in self.canvas.nodes}
        return here.intersection(names) | await SqlFlowStore(assistant.database, LOCAL_USER).components_used(names)

    async def _attach(self, path: str) -> None:
        """Add a file of this machine to the user's files, for the next message."""
        try:
            added = await asyncio.to_thread(add_file, path, where="/file")
        except BadUsage as refused:
            print_message(f"{refused.message} {refused.fix}")
            return
        self.attached = (*self.attached, added.path)
        print_message(f"Attached {added.path} ({added.size} bytes) to the next message.")

    def _show(self) -> None:
        """Show the canvas."""
        if self.as_json:
            print_json({"event": "canvas", "flow": None if self.canvas is None else self.canvas.to_json()})
        else:
            print_result("The canvas is empty." if self.canvas is None else ascii_graph(self.canvas))

    async def _turns(self, text: str, assistant: Assistant, lines: Lines) -> None:
        """Take a turn, and further ones that answer its questions."""
        request = TurnRequest(
            text=text,
            session=self.session,
            flow=self.canvas,
            model=self.model,
            apply="always" if self.approve_all else "ask",
            components=self.components,
            files=self.attached,
        )
        words = ""
        self.attached = ()
        while True:
            self._failed = False
            result = await lines.work(self._turn(request, assistant))
            if result is None:
                return
            self._failed = result.outcome == "error"
            request = request.model_copy(update={"flow": self.canvas, "answers": {}, "replying": False})
            if result.outcome == "pending":
                answers, words = ({}, words) if words else await self._answers(result.approvals, lines)
                if answers:
                    request = request.model_copy(update={"text": "", "answers": answers})
                else:
                    request, words = request.model_copy(update={"text": words, "replying": True}), ""
                continue
            if result.proposal is None or result.error is not None:
                return
            reply = await self._offer(result, assistant, lines)
            if reply is None:
                return
            request = request.model_copy(update={"text": reply, "flow": self.canvas})

    async def _turn(self, request: TurnRequest, assistant: Assistant) -> TurnResult | None:
        """Take and show one turn; the canvas keeps changes made before an interruption."""
        rendering: Rendering = JsonEvents(request.session) if self.as_json else Readable(interactive=True)
        result: TurnResult | None = None
        record = TurnRecord()
        try:
            async with assistant.turn(request) as events:
                try:
                    async for event in events:
                        if isinstance(event, TurnEnded):
                            result = event.result
                        rendering.show(event)
                finally:
                    self._set(events.canvas)
                    record = events.record
        except AssistantUnavailable as unavailable:
            if self.as_json:
                print_json(ErrorEvent.of(unavailable.error).model_dump())
            print_message(f"Error: {unavailable.error.message} {unavailable.error.fix}".rstrip())
            self._failed = True
        except asyncio.CancelledError:
            if self.as_json:
                rendering.cancelled(record)
            rendering.close()
            print_message(f"Stopped.\n{record.text}" if record.acted else "Stopped.")
            raise
        finally:
            rendering.close()
        return result

    async def _answers(self, approvals: dict[str, Approval], lines: Lines) -> tuple[dict[str, Answer], str]:
        """The user's answers by id, up to a reply in other words than yes or no, which is returned beside them."""
        answers: dict[str, Answer] = {}
        for id_, approval in approvals.items():
            print_message(format_question(approval))
            covered = self.approve_all and approval.kind in {"plan", "edit"}
            reply = "y" if covered else await self._line("Do it? [y/N, or why not] ", lines)
            meaning = _meaning(reply)
            if meaning is None:
                return answers, reply
            answers[id_] = ToolApproved() if meaning == "approve" else ToolDenied()
        return answers, ""

    async def _offer(self, result: TurnResult, assistant: Assistant, lines: Lines) -> str | None:
        """Ask whether to use a proposed flow; a reply that is neither yes nor no is returned as the next message."""
        canvas = self.canvas or Flow.empty()
        place = "on the canvas" if canvas.is_empty else "beside what is on the canvas"
        reply = await self._reply(f"Put it {place}? [y/N] ", lines)
        meaning = _meaning(reply)
        if meaning is None:
            return reply
        accepted = meaning == "approve"
        answers: dict[str, Answer] = {result.proposal_id or "": ToolApproved() if accepted else ToolDenied()}
        request = TurnRequest(text="", session=self.session, flow=self.canvas, model=self.model, answers=answers)
        async with assistant.turn(request.model_copy(update={"components": self.components})) as events:
            async for _ in events:
                pass
        self._set(events.canvas)
        print_message("Added to the canvas." if accepted else "The canvas was not changed.")
        return None

    async def _reply(self, prompt: str, lines: Lines) -> str:
        """What the user answers; yes when everything is approved."""
        return "y" if self.approve_all else await self._line(prompt, lines)

    async def _line(self, prompt: str, lines: Lines) -> str:
        """What the user answers; no at the end of the input."""
        try:
            return (await lines.next(prompt)).strip()
        except EndOfInput:
            return "n"

    def _set(self, flow: Flow) -> None:
        """Replace the canvas, and save it when there is a file for it."""
        if flow.is_empty and self.canvas is None:
            return
        self.canvas = flow
        if self.target is not None:
            write_flow(self.target, flow)


def _meaning(reply: str) -> PlainReply | None:
    """What a plain reply means, in any language; nothing at all is a no."""
    return plain_reply(reply) if reply else "deny"
