"""The help of every command, found by walking the command tree as the help itself tells it."""

import re

from tests.surfaces.normalisation import plain
from tests.surfaces.subject import Workplace

_COMMAND = re.compile(r"^  ([a-z][a-z0-9-]*)(?: {2,}|$)")


def capture_help(place: Workplace) -> dict[str, str]:
    """The help of each command, by the name of its snapshot."""
    captured: dict[str, str] = {}
    waiting: list[list[str]] = [[]]
    while waiting:
        command = waiting.pop()
        done = place.run([*command, "--help"])
        assert (done.code, done.err) == (0, ""), (command, done)
        captured["-".join(["wirewright", *command]) + ".txt"] = plain(done.out, place.places)
        waiting += [[*command, name] for name in subcommands(done.out)]
    return captured


def subcommands(text: str) -> list[str]:
    """The names that a help text lists under `Commands:`."""
    _, _, listed = text.partition("\nCommands:\n")
    found = (_COMMAND.match(line) for line in listed.partition("\n\n")[0].splitlines())
    return [match[1] for match in found if match]
