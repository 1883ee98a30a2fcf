"""Groups of commands, each of which ends its help with examples."""

from collections.abc import Callable
from typing import Any, TypeVar

import typer

from cli.help.page import Command, Group

F = TypeVar("F", bound=Callable[..., Any])


class CommandGroup(typer.Typer):
    """Commands under a common word.

    Args:
        text: what they are for.
        name: the word; it is given when they are added to others if not here.
    """

    def __init__(self, text: str, *, name: str | None = None, epilog: str | None = None) -> None:
        super().__init__(
            name=name,
            cls=Group,
            help=text,
            epilog=epilog,
            no_args_is_help=True,
            add_completion=False,
            rich_markup_mode=None,  # plain help comes up in half the time
            context_settings={"help_option_names": ["-h", "--help"]},
        )

    def add(self, name: str, *examples: str) -> Callable[[F], F]:
        """A decorator that adds a command; the first sentence of its docstring stands in the list of commands.

        Args:
            name: the word that calls it.
            examples: one to three lines for a shell, which work as they stand.
        """
        shown = "\n".join(["Examples:" if len(examples) > 1 else "Example:", *(f"  {line}" for line in examples)])
        return self.command(name, cls=Command, epilog=shown)
