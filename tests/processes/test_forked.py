"""Processes that fork children: one of a kind for all, which outlives whoever is cut off from it."""

import sys
from pathlib import Path

import pytest

from tests.processes.forked import ForkParent, MakeForkParent

CHILD = """
import os, sys, time
STARTED = os.getpid()

def ready(*arguments):
    global ARGUMENTS
    ARGUMENTS = arguments

def main(*arguments):
    if arguments == ("waits",):
        time.sleep(600)
    print(STARTED, ARGUMENTS, arguments, os.getcwd(), os.environ["GIVEN"], os.environ["MORE"], sys.stdin.read())
    return 3
"""


@pytest.fixture
def parents(fork_parent: MakeForkParent, tmp_path: Path) -> tuple[ForkParent, ForkParent]:
    """Two processes of a kind, as two workers have them."""
    child = tmp_path / "child.py"
    child.write_text(CHILD, encoding="utf-8")

    def variables(_: Path) -> dict[str, str]:
        return {"GIVEN": "given"}

    first = fork_parent(f"test-{tmp_path.name}", sys.executable, child, "x", variables=variables)
    return first, ForkParent(first.address)


def said(parent: ForkParent, folder: Path, *arguments: str) -> list[str]:
    """What a child says, which must end as it should."""
    done = parent.run(*arguments, folder=folder, variables={"MORE": "more"}, seconds=60, stdin="typed")
    assert (done.code, done.err) == (3, "")
    return done.out.split()


def test_one_process_forks_the_children_of_all(parents: tuple[ForkParent, ForkParent], tmp_path: Path) -> None:
    (first, *one), (second, *other) = (said(parent, tmp_path, "a") for parent in parents)
    assert first == second
    assert one == other == ["('x',)", "('a',)", str(tmp_path), "given", "more", "typed"]
    assert [parent.children() for parent in parents] == [{}, {}]


def test_a_child_that_takes_too_long_ends_its_own_process_alone(
    parents: tuple[ForkParent, ForkParent], tmp_path: Path
) -> None:
    first, second = parents
    with pytest.raises(TimeoutError, match=r"longer than 0\.2 s"):
        first.run("waits", folder=tmp_path, variables={"MORE": ""}, seconds=0.2)
    assert first.ended
    assert not second.ended
    assert said(second, tmp_path)
    second.end()
    assert second.ended
    assert said(ForkParent(first.address), tmp_path)
