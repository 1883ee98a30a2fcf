"""Shows a turn: as JSON lines like those of the event stream, or as text for a person."""

import sys
from typing import TYPE_CHECKING, Protocol

from pydantic_ai import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from rich.console import Console
from rich.status import Status
from rich.text import Text

from agent.contract.endings import cancelled
from agent.language.phrases import phrase
from agent.models.providers import DEMO
from agent.turn.record import TurnRecord, unsaid
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from cli.output.faults import note_faults
from cli.output.questions import format_question
from cli.output.streams import clear_progress, is_live, print_json, print_message, print_prose, terminal_width
from flows.actions import FlowAction
from flows.describe.actions import Effect, summarize
from server.streams.sse import SseEncoder
from tools.events import FlowPreview, FlowUpdate, Progress

if TYPE_CHECKING:
    from cli.output.wrapping import Wrapper

_SIGNS: dict[Effect, str] = {"added": "+", "removed": "-", "connected": "+", "disconnected": "-", "changed": "~"}


class Rendering(Protocol):
    """Shows a turn while it happens."""

    def show(self, event: TurnEvent) -> None:
        """Show one event."""
        ...

    def cancelled(self, record: TurnRecord) -> None:
        """Show that the user stopped the turn, and what was done before."""
        ...

    def close(self) -> None:
        """Restore the terminal."""
        ...


class JsonEvents:
    """Each event a line of JSON on standard output; the last is `complete`, `error` or `cancelled`."""

    def __init__(self, session: str) -> None:
        self._encoder = SseEncoder(session)

    def show(self, event: TurnEvent) -> None:
        """Print the event as clients of the HTTP API receive it."""
        for line in self._encoder.encode(event):
            print_json(line.model_dump())

    def cancelled(self, record: TurnRecord) -> None:
        """Print the last event of a stopped turn."""
        print_json(cancelled(record).model_dump(mode="json"))

    def close(self) -> None:
        """Nothing to restore."""


class Readable:
    """Progress and changes on standard error; the answer and the output of the flow on standard output.

    Args:
        interactive: whether the user can answer questions here; if not, how to answer them is noted.
        session: the conversation that the user named.
        answer: the command that answers them later; empty where the conversation is not kept.
        source: the file that the flow was read from, if any.

    Attributes:
        place: where the flow is in the end, in words; empty when it is written nowhere.
        answer: the command that answers the questions.

    The record of what was done closes what is shown.
    """

    def __init__(
        self, *, interactive: bool = False, session: str | None = None, answer: str = "", source: str | None = None
    ) -> None:
        self.place = ""
        self.answer = answer
        self._interactive = interactive
        self._session = session
        self._source = source
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._status: Status | None = None
        self._streamed = ""
        self._wrapper: Wrapper | None = None

    def show(self, event: TurnEvent) -> None:
        """Show the event if it matters to a person."""
        match event:
            case Progress():
                self._progress(event.message)
            case FlowUpdate(applied=True):
                line = format_change(event.action)
                if line:
                    self._print(f"  {line}")
            case FlowPreview():
                self._print(event.graph)
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                self._token(text)
            case TurnEnded():
                self._end(event.result)
            case _:
                pass

    def cancelled(self, record: TurnRecord, message: str = "Cancelled.") -> None:
        """Note it, and what was done.

        Args:
            record: what was done.
            message: that it was stopped, and why.
        """
        self.close()
        print_prose(message)
        if record.acted:
            _print_record(record.text)

    def begin_again(self, message: str) -> None:
        """Note that what comes next may have been shown already, beginning with the answer.

        Args:
            message: why, in a line.
        """
        wrapped = self._wrapper is not None
        self.close()
        if self._streamed and not wrapped and not self._streamed.endswith("\n"):
            print_prose("", err=False)
        self._streamed = ""
        print_prose(message)

    def close(self) -> None:
        """Stop the spinner, and complete the line of an answer that was cut off."""
        self._stop_spinner()
        if self._wrapper is not None:
            sys.stdout.write(self._wrapper.end() + ("" if self._streamed.endswith("\n") else "\n"))
            sys.stdout.flush()
            self._wrapper = None

    def _stop_spinner(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _print(self, text: str) -> None:
        """Print beside the spinner, which stays below."""
        width = terminal_width(sys.__stderr__) if sys.__stderr__ is not None and self._console.is_terminal else None
        if width is not None:
            from cli.output.wrapping import wrapped

            text = wrapped(text, width)
        self._console.print(text, soft_wrap=True)

    def _progress(self, message: str) -> None:
        clear_progress()
        if not is_live(sys.stderr):
            print_message(message)
            return
        line = Text(" ".join(message.split()), no_wrap=True, overflow="ellipsis")
        if self._status is None:
            self._status = self._console.status(line)
            self._status.start()
        else:
            self._status.update(line)

    def _token(self, text: str) -> None:
        self._stop_spinner()
        if not self._streamed and (width := terminal_width(sys.stdout)) is not None:
            from cli.output.wrapping import Wrapper

            self._wrapper = Wrapper(width)
        self._streamed += text
        sys.stdout.write(text if self._wrapper is None else self._wrapper.feed(text))
        sys.stdout.flush()

    def _end(self, result: TurnResult) -> None:
        wrapped = self._wrapper is not None
        self.close()
        if self._streamed and not wrapped and not self._streamed.endswith("\n"):
            print_prose("", err=False)
        if result.error is not None:
            print_prose(f"Error: {result.error.message} {result.error.fix}".rstrip())
            if result.record.acted:
                _print_record(result.record.text)
            return
        left = unsaid(self._streamed, result.text) if result.text.startswith(self._streamed.strip()) else ""
        if left:
            print_prose(left, err=False)
        self._show_run(result)
        told = DEMO in result.models  # the demo planner tells every caveat itself, in the user's language
        for caveat in result.caveats:
            if not told and caveat not in result.text:
                print_prose(phrase("shell_note", result.language, caveat))
        note_faults(result.faults)
        if not self._interactive:
            self._note_questions(result)
            self._note_place(result)
        _print_record(unsaid(result.text, result.record.text))

    def _note_questions(self, result: TurnResult) -> None:
        """Note what waits for the user, who cannot answer here."""
        for approval in result.approvals.values():
            print_prose(format_question(approval, result.language))
        if not result.approvals:
            return
        if self.answer:
            print_prose(phrase("shell_answer", result.language, self.answer))
            print_prose(phrase("shell_answer_words", result.language))
        else:
            print_prose(phrase("shell_ask_again", result.language))

    def _note_place(self, result: TurnResult) -> None:
        """Note where the flow is, or how to keep it."""
        if self.place:
            print_prose(self.place)
        elif self._session is not None:
            print_prose(phrase("shell_go_on_session", result.language, self._session))
        elif (result.proposal is not None or result.actions) and not (result.approvals and self.answer):
            kept = ("shell_source_kept", self._source) if self._source else ("shell_not_kept",)
            print_prose(phrase(kept[0], result.language, *kept[1:]))

    def _show_run(self, result: TurnResult) -> None:
        """Show the output of the last run unless the answer contains it."""
        if not result.runs:
            return
        run = result.runs[-1]
        if run.error is not None:
            if run.error.message not in result.text:
                why = f"{run.error.message} {run.error.fix}".rstrip()
                print_prose(phrase("shell_run_failed", result.language, run.error.code, why))
            elif run.error.fix and run.error.fix not in result.text:
                print_prose(phrase("shell_fix", result.language, run.error.fix))
        elif run.output is not None and run.output not in result.text:
            print_prose(run.output, err=False)
        if run.hosts:
            from runtime.egress.words import hosts_in_words

            print_prose(phrase("shell_hosts", result.language, hosts_in_words(run.hosts)))


def _print_record(text: str) -> None:
    if text:
        print_prose(f"\n{text}")


def format_change(action: FlowAction) -> str:
    """One change as a line for a person; empty when it only moves something."""
    summary = summarize(action)
    sign = _SIGNS.get(summary.effect)
    return f"{sign} {summary.subject}" if sign else ""
