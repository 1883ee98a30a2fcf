"""The help of a command: what it does, its arguments, options and commands, and examples, as wide as the terminal."""

import inspect
import shutil
from collections.abc import Iterator

from typer._click import Context, HelpFormatter
from typer.core import TyperArgument, TyperCommand, TyperGroup

from cli.output.columns import rows_as_lines, wrapped

WIDEST = 120
"""Longer lines are hard to read, however wide the terminal is."""
NARROWEST = 40
_UNBROKEN = "\N{NO-BREAK SPACE}"


def format_page(command: TyperCommand | TyperGroup, context: Context) -> str:
    """The help of a command; lines are broken between words, and nothing is left out.

    Args:
        command: the command.
        context: how it was called.
    """
    width = max(NARROWEST, min(shutil.get_terminal_size().columns, WIDEST))
    return "\n".join(_lines(command, context, width)).replace(_UNBROKEN, " ").rstrip() + "\n"


def _lines(command: TyperCommand | TyperGroup, context: Context, width: int) -> Iterator[str]:
    parameters = command.get_params(context)
    arguments = [one for one in parameters if isinstance(one, TyperArgument) and not one.hidden]
    usage = " ".join([context.command_path, "[OPTIONS]", *(_usage(one) for one in arguments)])
    if isinstance(command, TyperGroup):
        usage += f" {command.subcommand_metavar}"
    yield from wrapped(f"Usage: {usage}", width, indent=" " * 7, first="")
    for paragraph in paragraphs(command.help):
        yield ""
        yield from wrapped(paragraph, width, indent="  ")
    yield from _section("Arguments", [(_name(one), one.help or "") for one in arguments], width)
    records = [one.get_help_record(context) for one in parameters if not isinstance(one, TyperArgument)]
    yield from _section("Options", [_with_whole_bounds(record) for record in records if record is not None], width)
    if isinstance(command, TyperGroup):
        listed = [(name, command.commands[name]) for name in command.list_commands(context)]
        rows = [(name, first_sentence(one.help)) for name, one in listed if not one.hidden]
        yield from _section("Commands", rows, width)
    if command.epilog:
        yield ""
        for line in command.epilog.splitlines():  # examples are indented, and are copied as they stand
            yield from [line] if line.startswith(" ") or not line else wrapped(line, width, indent="")


def _section(title: str, rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    if rows:
        yield from ("", f"{title}:", *rows_as_lines(rows, width, indent="  "))


def _name(argument: TyperArgument) -> str:
    """The name of an argument, without the signs of a usage line."""
    return (argument.metavar or argument.name or "").upper()


def _usage(argument: TyperArgument) -> str:
    name = f"{_name(argument)}{'...' if argument.nargs != 1 else ''}"
    return name if argument.required else f"[{name}]"


def _with_whole_bounds(record: tuple[str, str]) -> tuple[str, str]:
    """An option with its text; what stands in brackets at the end, such as the default, is not broken."""
    name, text = record
    words, bracket, bounds = " ".join(text.split()).rpartition(" [")
    return name, words + bracket + bounds.replace(" ", _UNBROKEN) if bracket else bounds


def paragraphs(text: str | None) -> list[str]:
    """The paragraphs of a docstring, each on one line."""
    return [" ".join(part.split()) for part in inspect.cleandoc(text or "").split("\n\n") if part.strip()]


def first_sentence(text: str | None) -> str:
    """What a list of commands says of one: the whole first sentence."""
    first = next(iter(paragraphs(text)), "")
    sentence, stop, _ = first.partition(". ")
    return sentence + stop.rstrip() if stop else first


class Command(TyperCommand):
    """A command with this help."""

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the help."""
        formatter.write(format_page(self, ctx))


class Group(TyperGroup):
    """A group of commands with this help."""

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the help."""
        formatter.write(format_page(self, ctx))
