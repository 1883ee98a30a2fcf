"""The help of every command fits the terminal, says everything, and names things as the other commands do."""

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest
from typer.main import get_command

from cli.help.page import WIDEST, first_sentence, paragraphs
from cli.main import command_line
from tests.cli.conftest import Wirewright

SPECIFIC = {
    *("--all", "--baseline", "--check", "--concurrency", "--flow", "--gate", "--in", "--model", "--out", "--player"),
    *(
        "--folder",
        "--insecure",
        "--name",
        "--overwrite",
        "--scenarios",
        "--session",
        "--tag",
        "--with-secrets",
        "--yes",
    ),
}
"""Options whose text says what they mean for their command."""


def tree(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every command and group, with the words that lead to it."""
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from tree(below, (*path, name))


COMMANDS = dict(tree(get_command(command_line())))
PATHS = pytest.mark.parametrize("path", COMMANDS, ids=" ".join)


@pytest.mark.table
@PATHS
@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_help_fits_the_terminal_and_breaks_no_word(
    path: tuple[str, ...], columns: str, wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    text = wirewright(*path, "--help").out
    body, _, _ = text.partition("\nExample")
    assert max(map(len, body.splitlines())) <= min(int(columns), WIDEST)
    assert max(map(len, text.splitlines())) <= 80 or columns != "80"
    command = COMMANDS[path]
    said = " ".join(text.split())
    assert all(paragraph in said for paragraph in paragraphs(getattr(command, "help", "")))
    for below in getattr(command, "commands", {}).values():
        assert first_sentence(below.help) in said
    for parameter in getattr(command, "params", []):
        assert " ".join((parameter.help or "").split()) in said


def test_a_wide_terminal_takes_fewer_lines(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    for columns in ("80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        lengths.append(len(wirewright("eval", "run", "--help").out.splitlines()))
    assert lengths[1] < lengths[0] - 3


@pytest.mark.table
@PATHS
def test_help_shows_no_signs_of_the_parser(path: tuple[str, ...], wirewright: Wirewright) -> None:
    usage, *rest = wirewright(*path, "--help").out.partition("\nExample")[0].splitlines()
    assert not re.search(r"[{}<>]|\[\[|\.{4}", usage)
    assert not any(re.search(r"^  \S.*<(str|int|float)", line) for line in rest)


def test_an_option_is_called_and_explained_alike_everywhere() -> None:
    found: defaultdict[str, set[tuple[str | None, str]]] = defaultdict(set)
    for path, command in COMMANDS.items():
        for option in getattr(command, "params", []):
            if option.param_type_name != "option" or path in (
                ("eval", "import", "chat2workflow"),
                ("eval", "pack", "create"),
            ):
                continue
            name = max(option.opts, key=len)
            found[name].add((option.metavar, "" if name in SPECIFIC else option.help))
    del found["--port"]  # where to listen, or the port in a link
    del found["--list"]  # conversations, or trusted sources
    del found["--resume"]  # attempts of a journal, or a conversation
    del found["--in"]  # a folder of conversations, or a journal
    found["--out"].discard(("JSONL", ""))  # results of a batch, which is gone on with
    del found["--langflow"]  # a flow there, or a switch for what is done there
    del found["--to"]  # a flow there, or a form of results
    del found["--baseline"]  # a file to compare with, or a switch for a file to be compared with
    assert {name: seen for name, seen in found.items() if len(seen) > 1} == {}
