"""The help of every command."""

from collections.abc import Callable, Mapping

from tests.surfaces.captures.help_capture import capture_help, subcommands
from tests.surfaces.subject import Workplace

Matches = Callable[[str, Mapping[str, str]], None]


def test_the_help_of_every_command_is_as_committed(place: Workplace, matches: Matches) -> None:
    matches("help", capture_help(place))


def test_the_walk_finds_every_command_that_a_help_text_lists() -> None:
    text = "Usage: x\n\nCommands:\n  go       Goes.\n           And comes.\n  to-and-fro\n\n  An epilogue.\n"
    assert subcommands(text) == ["go", "to-and-fro"]
    assert subcommands("Usage: x\n\nOptions:\n  --help  Show this.\n") == []
