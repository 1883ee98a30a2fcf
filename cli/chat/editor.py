"""The line editor of a terminal: several lines, a history, completion, and questions answered in place."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import Completer
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.history import DummyHistory
from prompt_toolkit.input.base import Input
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import Output
from prompt_toolkit.output.defaults import create_output
from prompt_toolkit.output.vt100 import Vt100_Output

from agent.language.phrases import phrase
from cli.chat.completion import completes_while_typing
from cli.chat.history import MessageHistory
from cli.chat.lines import EndOfInput, Lines, Unanswered
from cli.output.streams import print_message, print_prose

MENU_ROWS = 6
"""Rows that a menu of completions takes."""


class Editor(Lines):
    """Lines that a person types at a terminal, where the keyboard is silent between them (`cli.chat.keyboard`).

    Args:
        data: the data folder, which keeps the history.
        completer: completes what is typed.
        typed: what was typed before, with a carriage return for each Enter.
    """

    edits = True

    def __init__(self, data: Path, completer: Completer, typed: str = "") -> None:
        super().__init__()
        self._draft = ""
        output = _output()
        self._history = MessageHistory(data)
        self._told = False
        self._messages = PromptSession[str](
            message="> ",
            prompt_continuation="  ",
            multiline=True,
            history=self._history,
            completer=completer,
            complete_in_thread=True,
            complete_while_typing=Condition(_completes),
            reserve_space_for_menu=MENU_ROWS,
            key_bindings=_keys(new_lines=True),
            enable_suspend=True,
            erase_when_done=True,
            output=output,
        )
        self._questions = PromptSession[str](
            history=DummyHistory(),
            key_bindings=_keys(new_lines=False),
            enable_suspend=True,
            erase_when_done=True,
            output=output,
        )
        store_typeahead(self._messages.input, _as_keys(typed))

    async def next(self, prompt: str) -> str:
        """The next message, which may have several lines.

        Args:
            prompt: what stands before it.

        Raises:
            EndOfInput: the user leaves.
        """
        while True:
            try:
                draft, self._draft = self._draft, ""
                text = await self._typed(self._messages, prompt, draft)
            except Unanswered:
                print_message("Ctrl-D leaves.")
                continue
            if self._history.failed and not self._told:
                self._told = True
                print_message("The history of messages cannot be kept: the data folder cannot be written.")
            return text

    async def ask(self, prompt: str) -> str:
        """The answer to a question; what was typed before the question was there is kept for the next message.

        Args:
            prompt: the question.

        Raises:
            EndOfInput: the user leaves.
            Unanswered: the user turns away with Ctrl-C.
        """
        typed = _as_text(_typed_ahead(self._questions.input))
        if typed:
            self._draft = f"{self._draft}\n{typed}".strip("\n")
            print_prose(phrase("shell_kept_draft", self.language))
        return (await self._typed(self._questions, prompt)).strip()

    def interrupt(self) -> None:
        """Stop the current work, or clear the line."""
        if self._work is None and (app := self._running()) is not None:
            app.exit(exception=Unanswered())
        else:
            super().interrupt()

    def end(self) -> None:
        """Stop the current work and end the input."""
        super().end()
        if (app := self._running()) is not None:
            app.exit(exception=EOFError())

    async def _typed(self, session: PromptSession[str], prompt: str, draft: str = "") -> str:
        """What the user types, which stays on the screen with its words unbroken."""
        if self._ended:
            raise EndOfInput
        try:
            text = await session.prompt_async(prompt, default=draft, handle_sigint=False)
        except EOFError:
            self._ended = True
            raise EndOfInput from None
        if text.strip() or session is self._questions:
            print_prose(f"{prompt}{text.rstrip()}".rstrip().replace("\n", "\n  "))
        return text

    def _running(self) -> Any:
        apps = (self._messages.app, self._questions.app)
        return next((app for app in apps if app.is_running and not app.is_done), None)


def _output() -> Output:
    """The terminal; it is not asked where the cursor is, since a late answer would be taken for typing."""
    output = create_output(stdout=sys.stdout)
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output


def _typed_ahead(keyboard: Input) -> list[KeyPress]:
    """The keys that were pressed and that no prompt has read."""
    keys = get_typeahead(keyboard)
    while read := keyboard.read_keys():
        keys += read
    return [*keys, *keyboard.flush_keys()]


def _as_keys(typed: str) -> list[KeyPress]:
    """What was typed as the keys that an editor reads."""
    keys: list[KeyPress] = []
    Vt100Parser(keys.append).feed_and_flush(typed)
    return keys


def _as_text(keys: Iterable[KeyPress]) -> str:
    """The text that keys write, an Enter as a new line; other keys write nothing."""
    text = ""
    for press in keys:
        if press.key in {Keys.ControlM, Keys.ControlJ}:
            text += "\n"
        elif press.key in {Keys.ControlH, Keys.Backspace}:
            text = text[:-1]
        elif press.key == Keys.BracketedPaste or press.key == press.data:
            text += press.data.replace("\r\n", "\n").replace("\r", "\n")
    return text.rstrip()


def _completes() -> bool:
    return completes_while_typing(get_app().current_buffer.document.text_before_cursor)


def _keys(*, new_lines: bool) -> KeyBindings:
    keys = KeyBindings()
    typing = has_focus(DEFAULT_BUFFER)

    @keys.add("enter", filter=typing)
    def _accept(event: KeyPressEvent) -> None:
        """Take the chosen completion, or send."""
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        else:
            buffer.validate_and_handle()

    @keys.add("tab", filter=typing)
    def _complete(event: KeyPressEvent) -> None:
        """Show the completions, or go to the next; a single one is taken and stays."""
        buffer = event.current_buffer
        state = buffer.complete_state
        if state is None:
            buffer.start_completion(insert_common_part=True)
        elif len(state.completions) != 1:
            buffer.complete_next()
        elif state.current_completion is None:
            buffer.apply_completion(state.completions[0])

    @keys.add("escape", "enter", filter=typing)
    @keys.add("c-j", filter=typing)
    def _new_line(event: KeyPressEvent) -> None:
        """Begin a new line, where there can be several."""
        if new_lines:
            event.current_buffer.newline(copy_margin=False)
        else:
            event.current_buffer.validate_and_handle()

    @keys.add("c-c", filter=typing)
    def _turn_away(event: KeyPressEvent) -> None:
        """Clear the line, or leave a question open."""
        event.app.exit(exception=Unanswered())

    return keys
