"""The commands inside a conversation, as its help and its completion show them."""

from dataclasses import dataclass
from typing import Literal

from cli.output.wrapping import wrapped


@dataclass(frozen=True)
class Command:
    """A line that begins with a slash.

    Attributes:
        name: with its slash.
        help: what it does.
        argument: what may follow.
        completes: what the argument is completed from.
    """

    name: str
    help: str
    argument: str = ""
    completes: Literal["", "path", "model"] = ""

    @property
    def usage(self) -> str:
        """The command with its argument."""
        return f"{self.name} {self.argument}".rstrip()


COMMANDS = (
    Command("/show", "draw the flow on the canvas"),
    Command("/flow", "show the flow, or load one from a file onto the canvas", "[PATH]", "path"),
    Command("/save", "write the canvas to a file, as Langflow JSON", "PATH", "path"),
    Command("/file", "add a file to yours; the next message is about it", "PATH", "path"),
    Command("/model", "show the model that answers, or choose another", "[NAME]", "model"),
    Command("/undo", "take back the changes of the last turn; again goes one turn further back"),
    Command("/redo", "make them again"),
    Command("/reset", "delete the conversation and the components created for you that no flow uses; the canvas stays"),
    Command("/forget", "delete the conversation alone"),
    Command("/help", "show this"),
    Command("/quit", "leave, as Ctrl-D does"),
)

SERVER_COMMANDS = (Command("/store", "store the canvas on the server, which then stores its changes, too", "[NAME]"),)
"""Those of a conversation on a server alone."""


def commands_at(place: str) -> tuple[Command, ...]:
    """The commands of a conversation.

    Args:
        place: the options that lead to its server; empty on this machine.
    """
    return (*COMMANDS[:-2], *SERVER_COMMANDS, *COMMANDS[-2:]) if place else COMMANDS


_KEYS = (
    "Enter sends. Alt-Enter or Ctrl-J begins a new line; a paste stays one message. Tab completes commands, paths, and "
    "@ followed by a component or one of your files. Up and Ctrl-R call back what you typed. Ctrl-C stops the "
    "assistant, or clears the line."
)
_INDENT = 2 + max(len(command.usage) for command in COMMANDS) + 2


def help_text(width: int | None, commands: tuple[Command, ...] = COMMANDS, *, edits: bool) -> str:
    """What can be typed.

    Args:
        width: the columns of the terminal; None for lines of any length.
        commands: those that there are.
        edits: whether lines are typed in the editor, whose keys are listed too.
    """
    lines = ["Each line is a message, or a command:" if not edits else "Type a message, or a command:"]
    for command in commands:
        text = command.help if width is None else wrapped(command.help, max(width - _INDENT, 20))
        first, *rest = text.split("\n")
        lines += [f"  {command.usage}".ljust(_INDENT) + first, *(" " * _INDENT + line for line in rest)]
    return "\n".join([*lines, _KEYS if edits else "Ctrl-C stops the assistant."])
