"""The workers of pytest-xdist are forked from one process, and fail, crash and start over as other workers do."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ONLY_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux alone")
NOTES = """
import json, os
from pathlib import Path

NOTES = Path({notes!r})
IMPORTED = os.getpid()


def note(name):
    (NOTES / name).write_text(json.dumps(dict(imported=IMPORTED, pid=os.getpid())))
"""


def run(
    folder: Path, tests: str, *options: str, at: str = ""
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, int]]]:
    """Run tests, or the one that is named, with two workers; returns how it ended, and where each that noted it ran."""
    notes = folder / "notes"
    notes.mkdir()
    (folder / "test_sample.py").write_text(NOTES.format(notes=str(notes)) + tests, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-X",
        "faulthandler",
        "-m",
        "pytest",
        "-p",
        "xdist",
        "-p",
        "tests.processes.forked_workers",
    ]
    with subprocess.Popen(
        [*command, "-n", "2", *options, str(folder / at)],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_DEBUG_TEMPROOT": str(folder),  # elsewhere it would remove what large runs before it left
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            shown, wrong = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGABRT)  # each process that runs pytest says where it stands
            pytest.fail("\n".join(("the run does not end", *process.communicate())))
    done = subprocess.CompletedProcess(command, process.returncode, shown, wrong)
    return done, [json.loads(path.read_text()) for path in sorted(notes.iterdir())]


@ONLY_LINUX
def test_tests_are_imported_once_and_run_in_several_processes(tmp_path: Path) -> None:
    done, notes = run(tmp_path, "".join(f"def test_{one}(): note('{one}')\n" for one in range(20)))
    assert done.returncode == 0, done.stdout
    assert "20 passed" in done.stdout
    assert len({one["imported"] for one in notes}) == 1
    assert len({one["pid"] for one in notes}) == 2
    assert all(one["imported"] != one["pid"] for one in notes)


MAKES = """
import pytest

def pytest_generate_tests(metafunc):
    note(f"made {os.getpid()}")

@pytest.mark.parametrize("kind", [1], ids=["gr\u00fcn"])
def test_kind(kind): note("kind")

def test_other(): note("other")
"""


@ONLY_LINUX
def test_which_tests_a_file_has_is_found_out_by_workers_alone_and_they_are_called_as_elsewhere(tmp_path: Path) -> None:
    done, notes = run(tmp_path, MAKES, "-rA")
    assert done.returncode == 0, done.stdout
    assert len(notes) == 2 + 2
    assert all(one["imported"] != one["pid"] for one in notes)
    assert "PASSED test_sample.py::test_kind[gr\\xfcn]" in done.stdout


@ONLY_LINUX
def test_a_test_that_is_named_is_run_alone(tmp_path: Path) -> None:
    done, notes = run(tmp_path, MAKES, at="test_sample.py::test_other")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert len(notes) == 2 + 1


@ONLY_LINUX
def test_a_failing_test_fails_the_run_with_its_reason(tmp_path: Path) -> None:
    done, _ = run(tmp_path, "def test_right(): pass\ndef test_wrong(): assert 1 + 1 == 3, 'sums'\n")
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "AssertionError: sums" in done.stdout


@ONLY_LINUX
def test_a_worker_that_dies_is_named_and_replaced(tmp_path: Path) -> None:
    tests = "def test_dies(): os._exit(7)\n" + "".join(f"def test_{one}(): note('{one}')\n" for one in range(10))
    done, notes = run(tmp_path, tests)
    assert done.returncode == 1
    assert "test_dies" in done.stdout
    assert "10 passed" in done.stdout
    assert len(notes) == 10


@ONLY_LINUX
def test_a_worker_that_does_not_end_is_killed(tmp_path: Path) -> None:
    tests = (
        "import threading, time\n"
        "def test_stays(): threading.Thread(target=time.sleep, args=[1000]).start(); note('stays')\n"
    )
    done, notes = run(tmp_path, tests)
    assert "1 passed" in done.stdout
    with pytest.raises(ProcessLookupError):
        os.kill(notes[0]["pid"], 0)


@ONLY_LINUX
def test_tests_that_cannot_be_imported_are_reported(tmp_path: Path) -> None:
    done, notes = run(tmp_path, "import nothing_of_the_kind\ndef test_one(): note('one')\n")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "No module named 'nothing_of_the_kind'" in done.stderr
    assert not notes


@ONLY_LINUX
def test_a_folder_without_tests_ends_as_elsewhere(tmp_path: Path) -> None:
    done, notes = run(tmp_path, "")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert not notes


@ONLY_LINUX
def test_what_a_worker_prints_and_reads_does_not_disturb_the_exchange(tmp_path: Path) -> None:
    tests = (
        "import sys\n"
        "def test_prints(): os.write(1, b'noise'); os.write(2, b'noise'); print('noise'); note('prints')\n"
        "def test_reads(): assert os.read(0, 1) == b''; note('reads')\n"
    )
    done, notes = run(tmp_path, tests, "--capture=sys")
    assert done.returncode == 0, done.stdout
    assert len(notes) == 2


@ONLY_LINUX
def test_nothing_is_left_when_it_ends(tmp_path: Path) -> None:
    done, notes = run(tmp_path, "def test_one(): note('one')\n")
    assert done.returncode == 0
    for one in notes:
        with pytest.raises(ProcessLookupError):
            os.kill(one["pid"], 0)
        with pytest.raises(ProcessLookupError):
            os.kill(one["imported"], 0)
