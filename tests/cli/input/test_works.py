"""Every command while it works: its reader leaves, its disk is full, or it is interrupted."""

import os
import shlex

import pytest
from typer.main import get_command

from cli.main import command_line
from tests.cli.input.conftest import Bench
from tests.cli.input.table import (
    ANSWERED_BY_LINE,
    ENGINE_WORKS,
    ENGINE_WRITES,
    NO_FILES,
    READS,
    SERVER_WRITES,
    WORKS,
    WRITES,
)
from tests.cli.test_main import commands

FILES = {"F", "A", "B", "C", "FILE", "JOURNAL", "PATH", "PATH...", "DIR", "NAME|FILE"}
"""What the help calls arguments and options that name files."""


def test_every_command_has_its_rows() -> None:
    found = {" ".join(path): command for path, command in commands(get_command(command_line()))}
    assert set(WORKS) | set(ENGINE_WORKS) == set(found)
    rows = {row.command for row in (*READS, *WRITES, *ENGINE_WRITES, *SERVER_WRITES)} | set(ANSWERED_BY_LINE)
    naming = {
        name
        for name, command in found.items()
        if any(getattr(option, "metavar", None) in FILES for option in getattr(command, "params", []))
    }
    assert naming - rows == set()
    assert rows <= set(found)
    assert NO_FILES.isdisjoint(rows)


def test_every_option_that_names_a_file_has_a_row() -> None:
    for path, command in commands(get_command(command_line())):
        name = " ".join(path)
        rows = [row.arguments for row in (*READS, *WRITES, *ENGINE_WRITES, *SERVER_WRITES) if row.command == name]
        for option in getattr(command, "params", []):
            if getattr(option, "metavar", None) in FILES - {"DIR"} and option.opts[0].startswith("--"):
                assert any(f"{option.opts[0]} {{}}" in row for row in rows), f"{name} {option.opts[0]}"


@pytest.mark.table
@pytest.mark.parametrize("name", WORKS)
def test_a_reader_that_leaves_is_no_failure(name: str, bench: Bench) -> None:
    done = bench.run(WORKS[name].arguments, typed=WORKS[name].stdin, stdout="closed")
    assert (done.code, done.survivors) == (0, []), done
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err


@pytest.mark.table
@pytest.mark.parametrize("name", WORKS)
def test_a_full_disk_behind_standard_output_is_named(name: str, bench: Bench) -> None:
    done = bench.run(WORKS[name].arguments, typed=WORKS[name].stdin, stdout="full")
    assert done.code == 1, done
    assert done.err.splitlines()[-2:] == [
        "Error: Standard output cannot be written: no space is left.",
        "Free some space, or redirect the output.",
    ]


@pytest.mark.table
@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("name", [name for name, work in WORKS.items() if work.at])
def test_an_interrupted_command_ends_quietly(name: str, signal: str, bench: Bench) -> None:
    before = bench.state()
    done = bench.run(WORKS[name].arguments, typed=WORKS[name].stdin, signal=signal, at=WORKS[name].at)
    assert done.code == 130, done
    assert (done.out, done.survivors, "Traceback" in done.err) == ("", [], False)
    assert bench.state() == before


@pytest.mark.table
@pytest.mark.parametrize("name", WORKS)
def test_the_ordinary_calls_do_what_the_table_says(name: str, bench: Bench) -> None:
    done = bench.run(WORKS[name].arguments, typed=WORKS[name].stdin)
    assert done.code == WORKS[name].code, done
    assert done.out


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("name", ENGINE_WORKS)
def test_a_command_that_is_interrupted_while_the_engine_works_leaves_no_process(
    name: str, signal: str, bench: Bench
) -> None:
    bench.variables["WIREWRIGHT_CACHE"] = os.environ["WIREWRIGHT_CACHE"]
    before = bench.state()
    work = ENGINE_WORKS[name]
    done = bench.run(shlex.join(shlex.split(work.arguments)), typed=work.stdin, signal=signal, at=work.at)
    assert done.code in ({0, 130} if name in {"serve", "chat", "mcp"} else {130}), done
    assert (done.survivors, "Traceback" in done.err) == ([], False), done
    assert bench.state() == before
