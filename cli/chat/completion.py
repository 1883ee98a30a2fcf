"""Completion while typing: commands, their paths and models, and mentions."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from cli.chat.commands import COMMANDS, Command
from flows.document import Flow

LISTED = 100
"""How many mentions are proposed at most."""

_MENTION = re.compile(r"(?:(?<=\s)|^)@(?P<begun>[^\s@]*)$")


@dataclass(frozen=True)
class Completions(Completer):
    """Completes the text before the cursor.

    Attributes:
        canvas: returns the flow on the canvas.
        models: returns the models that can be chosen.
        files: returns the paths of the user's files.
        commands: the commands of the conversation.
    """

    canvas: Callable[[], Flow | None]
    models: Callable[[], Sequence[str]]
    files: Callable[[], Sequence[str]]
    commands: Sequence[Command] = COMMANDS

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The completions of what stands before the cursor.

        Args:
            document: the text and the cursor.
            complete_event: how they were asked for.
        """
        text = document.text_before_cursor
        if not text.startswith("/") or "\n" in text:
            yield from self._mentions(text)
            return
        name, space, rest = text.partition(" ")
        if not space:
            yield from _begun(name, self.commands)
            return
        completes = next((command.completes for command in self.commands if command.name == name), "")
        if completes == "path":
            yield from PathCompleter(expanduser=True).get_completions(Document(rest), complete_event)
        elif completes == "model":
            for model in self.models():
                if rest.casefold() in model.casefold():
                    yield Completion(model, start_position=-len(rest))

    def _mentions(self, text: str) -> Iterable[Completion]:
        found = _MENTION.search(text)
        if found is None:
            return
        begun = found["begun"].casefold()
        canvas = self.canvas()
        nodes = [] if canvas is None else [(node.id, node.display_name) for node in canvas.nodes]
        known = [*nodes, *((path, "your file") for path in self.files())]
        matching = [(name, meta) for name, meta in known if begun in name.casefold() or begun in meta.casefold()]
        for name, meta in matching[:LISTED]:
            yield Completion(f"@{name}", start_position=-len(begun) - 1, display=name, display_meta=meta)


def completes_while_typing(text: str) -> bool:
    """Whether completions are shown unasked: for a command or a mention that was begun.

    Args:
        text: what stands before the cursor.
    """
    return _MENTION.search(text) is not None or (text.startswith("/") and "\n" not in text)


def _begun(begun: str, commands: Sequence[Command]) -> Iterable[Completion]:
    for command in commands:
        if command.name.startswith(begun):
            end = " " if command.argument else ""
            yield Completion(
                command.name + end, start_position=-len(begun), display=command.usage, display_meta=command.help
            )
