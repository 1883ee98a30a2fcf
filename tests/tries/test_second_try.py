"""What failed among others is played again alone; only what passes then, and nothing else, saves a run."""

import subprocess
import sys
from pathlib import Path

import pytest

PASSES_LATER = """
from pathlib import Path

def test_of_two_tries():
    first = Path(__file__).with_name("tried")
    known = first.exists()
    first.touch()
    assert known

def test_of_one_try():
    again = Path(__file__).with_name("once")
    assert not again.exists()
    again.touch()
"""
FAILS = "def test_fails():\n    assert False\n"
BREAKS = """
import pytest

@pytest.fixture(scope="session", autouse=True)
def broken():
    yield
    assert not "whole"

def test_of_two_tries():
    from pathlib import Path
    first = Path(__file__).with_name("tried")
    known = first.exists()
    first.touch()
    assert known
"""


def played(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_sample.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", *options, str(folder)]
    root = Path(__file__).parents[2]
    plugins = "-p xdist -p tests.tries.second_try"
    environment = {
        "PYTHONPATH": str(root),
        "PATH": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": plugins,
    }
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_what_passes_alone_saves_the_run_and_is_named(tmp_path: Path, workers: tuple[str, ...]) -> None:
    ended = played(tmp_path, PASSES_LATER, "--second-try", "3", *workers)
    assert ended.returncode == 0, ended.stdout
    last = ended.stdout.splitlines()[-2:]
    assert last == [
        "FAILED AMONG OTHERS, PASSED ALONE: 1; look for what they wait for:",
        "  test_sample.py::test_of_two_tries",
    ]


def test_what_fails_again_fails_the_run(tmp_path: Path) -> None:
    ended = played(tmp_path, PASSES_LATER + FAILS, "--second-try", "3")
    assert ended.returncode == 1
    assert "PASSED ALONE" not in ended.stdout
    assert "1 failed, 1 passed" in ended.stdout


@pytest.mark.parametrize(
    ("tests", "allowed"),
    [(PASSES_LATER, "0"), (PASSES_LATER + FAILS, "1"), (BREAKS, "3")],
    ids=["not allowed", "more than allowed", "an error outside of a test"],
)
def test_other_failures_are_final(tmp_path: Path, tests: str, allowed: str) -> None:
    ended = played(tmp_path, tests, "--second-try", allowed)
    assert ended.returncode == 1
    assert "second try" not in ended.stdout
