"""A conversation: sends messages and answers to the assistant, and keeps the canvas up to date."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pydantic_ai import ToolApproved, ToolDenied

from agent.contract.endings import failed
from agent.language.phrases import phrase
from agent.language.replies import PlainReply, asks_to_continue, plain_reply
from agent.turn.request import Answer, TurnRequest
from agent.turn.result import TurnError, TurnResult
from cli.chat.lines import EndOfInput, Lines, Unanswered
from cli.chat.mentions import read_mentions
from cli.chat.partners.partner import Partner, Standing
from cli.chat.slash import carry_out
from cli.chat.state import ChatState
from cli.errors import CommandError
from cli.output.questions import format_question, format_removals, offered_changes, print_difference
from cli.output.streams import print_json, print_prose
from flows.document import Flow
from tools.approvals import Approval


@dataclass
class ChatSession(ChatState):
    """One conversation: takes its turns and keeps its canvas."""

    _failed: bool = False
    _waits: bool = False
    _turned_away: bool = False
    _completed: bool = False
    _language: str = "en"

    async def hold(self, partner: Partner, lines: Lines) -> bool:
        """Take turns until there are no more lines; returns whether the last one did not fail.

        Args:
            partner: takes the turns.
            lines: the user's messages and answers.
        """
        if lines.interactive:
            print_prose("Type a message; /help lists commands, Ctrl-D leaves.")
        try:
            if self.resumes:
                await self._resume(partner, lines)
                await self._send()
            while True:
                text = (await lines.next("> ")).strip()
                if text == "/quit":
                    break
                try:
                    if text and not await carry_out(
                        text, self, partner, lines, partial(self.take, partner=partner, lines=lines)
                    ):
                        await self.take(text, partner, lines)
                    await self._send()
                except CommandError as error:
                    self._failed_with(error)
        except EndOfInput:
            if self._waits:
                self.left_waiting = not lines.interactive
                print_prose(self._phrase("shell_still_waits"))
                if partner.keeps:
                    print_prose(self._phrase("shell_go_on", f"wirewright chat --resume {self.session}{partner.place}"))
        return not self._failed

    async def _send(self) -> None:
        """Send what the last turn has changed, unless it did not end, or something waits."""
        if self.send is not None and self.canvas is not None and self._completed and not self._turned_away:
            self._completed = False
            self.place(await self.send(self.canvas))

    def _phrase(self, key: str, *values: object) -> str:
        """A phrase in the language of the last answer."""
        return phrase(key, self._language, *values)

    async def take(self, text: str, partner: Partner, lines: Lines) -> None:
        """Take a turn, and further ones that answer its questions.

        Args:
            text: the message.
            partner: takes the turns.
            lines: the user's answers.
        """
        if self._turned_away and asks_to_continue(text) and await self._asked_again(partner, lines):
            return  # who turned away from a question has not said yes to it
        if lines.interactive and "@" in text:
            text, mentioned = read_mentions(text, self.canvas, await asyncio.to_thread(partner.files))
            self.attached = tuple(dict.fromkeys((*self.attached, *mentioned)))
        request = self._request(text).model_copy(update={"files": self.attached})
        self.attached = ()
        await self._turns(request, partner, lines)

    def _request(self, text: str) -> TurnRequest:
        return TurnRequest(
            text=text,
            session=self.session,
            flow=self.canvas,
            flow_id=self.flow_id,
            keep_canvas=True,
            model=self.model,
            apply="always" if self.approve_all else "ask",
            components=self.components,
        )

    async def _resume(self, partner: Partner, lines: Lines) -> None:
        """Show where the conversation stopped, and ask again what waits there."""
        standing = await partner.standing(self.session)
        self._language = standing.language or self._language
        lines.language = self._language
        if self.canvas is None:
            self.canvas, self.flow_id = standing.canvas, standing.flow_id
        if not self.as_json:
            _print_last(standing)
        await self._asked_again(partner, lines, standing)

    async def _asked_again(self, partner: Partner, lines: Lines, standing: Standing | None = None) -> bool:
        """Ask again what the conversation waits for; returns whether it waits for anything."""
        waits = standing or await partner.standing(self.session)
        self._turned_away = False
        try:
            if waits.approvals:
                answers, words = await self._answers(waits.approvals, lines)
                if answers or words:
                    answered = {"answers": answers} if answers else {"text": words, "replying": True}
                    request = self._request("").model_copy(update=answered)
                    await self._turns(request, partner, lines, words if answers else "")
            elif waits.proposal is not None:
                reply = await self._offer(waits.proposal, waits.proposal_id, partner, lines)
                if reply is not None:
                    await self._turns(self._request(reply), partner, lines)
        except Unanswered:
            self._turn_away()
        return waits.waits

    def _turn_away(self) -> None:
        self._turned_away = True
        print_prose(self._phrase("shell_still_waits"))

    async def _turns(self, request: TurnRequest, partner: Partner, lines: Lines, words: str = "") -> None:
        """Take a turn and those that its questions need.

        Args:
            request: the first of them.
            partner: takes the turns.
            lines: the user's answers.
            words: what the user has said already to the question that is left.
        """
        offered: str | None = None
        while True:
            self._failed = self._waits = self._turned_away = self._completed = False
            result = await lines.work(self._turn(request, partner))
            if result is None:
                return
            self._failed, self._language = result.outcome == "error", result.language
            self._completed = result.outcome == "complete"
            lines.language = result.language
            request = request.model_copy(update={"flow": self.canvas, "answers": {}, "replying": False})
            try:
                if result.outcome == "pending":
                    answers, words = ({}, words) if words else await self._answers(result.approvals, lines)
                    if answers:
                        request = request.model_copy(update={"text": "", "answers": answers})
                    else:
                        request, words = request.model_copy(update={"text": words, "replying": True}), ""
                    continue
                if result.error is not None:
                    return
                if result.proposal is not None:
                    offered, proposal = result.proposal_id or "", result.proposal
                elif (still := await self._still_offered(offered, result, partner)) is not None:
                    proposal = still
                else:
                    return
                reply = await self._offer(proposal, offered or "", partner, lines)
            except Unanswered:
                self._turn_away()
                return
            if reply is None:
                return
            request = request.model_copy(update={"text": reply, "flow": self.canvas})

    async def _still_offered(self, offered: str | None, result: TurnResult, partner: Partner) -> Flow | None:
        """The flow that was offered before a turn which only answered something beside it; else None."""
        if offered is None or result.actions or result.runs:
            return None
        waits = await partner.standing(self.session)
        return waits.proposal if waits.proposal_id == offered else None

    async def _ask(self, prompt: str, lines: Lines) -> str:
        """The answer to a question of the assistant, which waits until there is one."""
        self._waits = True
        reply = await lines.ask(prompt)
        self._waits = False
        return reply

    async def _turn(self, request: TurnRequest, partner: Partner) -> TurnResult | None:
        """Take and show one turn; the canvas keeps changes made before an interruption."""
        try:
            turn = partner.turn(request)
        except CommandError as unavailable:
            self._failed_with(unavailable)
            return None
        try:
            return await turn.take("json" if self.as_json else "words")
        except CommandError as unavailable:
            self._failed_with(unavailable)
            return None
        except asyncio.CancelledError:
            print_prose(f"Stopped.\n{turn.record.text}" if turn.record.acted else "Stopped.")
            raise
        finally:
            self.place(turn.canvas)

    def _failed_with(self, error: CommandError) -> None:
        """Say that a turn could not be taken."""
        self._failed = True
        if self.as_json:
            print_json(failed(TurnError(code=error.code, message=error.message, fix=error.fix)).model_dump())
        print_prose(f"Error: {error.message} {error.fix}".rstrip())

    async def _answers(self, approvals: Mapping[str, Approval], lines: Lines) -> tuple[dict[str, Answer], str]:
        """The user's answers by id, up to a reply in other words than yes or no, which is returned beside them."""
        answers: dict[str, Answer] = {}
        for id_, approval in approvals.items():
            print_difference(format_question(approval, self._language))
            if approval.kind == "tool":  # of another client, which began the conversation
                answers[id_] = ToolDenied("A terminal cannot carry it out.")
                continue
            if lines.interactive and (removals := format_removals(approval, self.canvas)):
                print_difference(removals)
            covered = self.approve_all and (approval.kind == "plan" or (approval.kind == "edit" and not approval.why))
            reply = "y" if covered else await self._ask(f"{self._phrase('shell_do_it')} ", lines)
            meaning = _meaning(reply)
            if meaning is None:
                return answers, reply
            answers[id_] = ToolApproved() if meaning == "approve" else ToolDenied()
        return answers, ""

    async def _offer(self, proposal: Flow, id_: str, partner: Partner, lines: Lines) -> str | None:
        """Ask whether to use a proposed flow; a reply that is neither yes nor no is returned as the next message."""
        canvas = self.canvas or Flow.empty()
        asked = self._phrase("shell_put_on" if canvas.is_empty else "shell_put_beside")
        if lines.interactive and not self.approve_all:
            print_difference(offered_changes(proposal, await partner.catalogue()))
        reply = "y" if self.approve_all else await self._ask(f"{asked} ", lines)
        meaning = _meaning(reply)
        if meaning is None:
            return reply
        accepted = meaning == "approve"
        answers: dict[str, Answer] = {id_: ToolApproved() if accepted else ToolDenied()}
        turn = partner.turn(self._request("").model_copy(update={"answers": answers}))
        await turn.take("nothing")
        self.place(turn.canvas)
        print_prose(self._phrase("shell_placed" if accepted else "shell_not_placed"))
        return None


def _meaning(reply: str) -> PlainReply | None:
    """What a plain reply means, in any language; nothing at all is a no."""
    return plain_reply(reply) if reply else "deny"


def _print_last(standing: Standing) -> None:
    """Show the last turn of a conversation that is gone on with."""
    turns = "1 turn" if standing.turns == 1 else f"{standing.turns} turns"
    print_prose(f"Going on with “{standing.title or 'a conversation'}” ({turns}).")
    if standing.last is not None:
        asked, answered = standing.last
        said = asked.replace("\n", "\n  ")
        print_prose(f"> {said}")
        print_prose(answered)
