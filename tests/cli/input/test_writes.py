"""A file that a command cannot write: said before any work, in a line, and nothing is left or changed."""

import os
from pathlib import Path

import pytest

from tests.cli.input.conftest import Bench
from tests.cli.input.table import ENGINE_WRITES, WRITES, Writes

BEFORE_WORK = {
    "in no folder": "nowhere/out.json",
    "a folder": "scenarios",
    "may not be written": "forbidden.json",
    "in a folder that may not be written": "forbidden/out.json",
}


def _prepared(bench: Bench) -> None:
    (bench.work / "forbidden.json").write_text("{}", encoding="utf-8")
    (bench.work / "forbidden.json").chmod(0o444)
    (bench.work / "forbidden").mkdir(mode=0o555)
    for path in (bench.folder / "data", bench.work / "scenarios"):
        path.chmod(0o777)


@pytest.mark.table
@pytest.mark.parametrize("place", BEFORE_WORK)
@pytest.mark.parametrize("row", [*WRITES, *ENGINE_WRITES], ids=lambda row: row.arguments)
def test_an_output_that_cannot_be_written_is_refused_before_any_work(row: Writes, place: str, bench: Bench) -> None:
    if os.getuid() != 0:
        pytest.skip("the tests do not run as root, so they cannot make a file that another user may not write")
    _prepared(bench)
    before = bench.state()
    user = row.command != "files get"  # whose store is another user's then
    if not user and "may not" in place:
        pytest.skip("the store belongs to the user that may write everywhere")
    done = bench.run(row.arguments.replace("{}", BEFORE_WORK[place]), "--json", user=user)
    assert done.code == 2, done
    error = done.document["error"]
    assert error["code"] in row.codes
    assert (error["where"], bool(error["fix"])) == (row.where, True)
    assert BEFORE_WORK[place].partition("/")[0] in error["message"]
    assert (bench.state(), done.survivors) == (before, [])
    assert "Traceback" not in done.err


@pytest.mark.parametrize("row", [row for row in WRITES if row.command != "doctor"], ids=lambda row: row.arguments)
def test_a_full_disk_is_named(row: Writes, bench: Bench) -> None:
    ending = ".json" if row.command == "eval report" else ""
    full = bench.work / f"full{ending}"
    full.symlink_to("/dev/full")
    done = bench.run(row.arguments.replace("{}", full.name))
    assert done.code == 1, done
    assert f"Error: {full.name} cannot be written: the disk is full." in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("row", WRITES, ids=lambda row: row.arguments)
def test_an_interrupted_command_leaves_no_half_of_its_output(row: Writes, name: str, bench: Bench) -> None:
    target = bench.work / "out.json"
    if row.command != "doctor":
        target.write_text("what was there", encoding="utf-8")
    before = bench.state()
    done = bench.run(row.arguments.replace("{}", "out.json"), signal=name, at=".wirewright-")
    assert done.code == 130, done
    assert (bench.state(), done.survivors, "Traceback" in done.err) == (before, [], False)


def test_a_file_that_is_replaced_keeps_its_link_and_its_permissions(bench: Bench) -> None:
    target = bench.work / "real.json"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    (bench.work / "link.json").symlink_to("real.json")
    assert bench.run("flow build echo.flow --out link.json").code == 0
    assert (bench.work / "link.json").is_symlink()
    assert (target.stat().st_mode & 0o777, target.read_text(encoding="utf-8")[0]) == (0o640, "{")
    assert not list(Path(bench.work).glob(".wirewright-*"))
