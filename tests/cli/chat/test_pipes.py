"""`wirewright chat` in a pipe: no editor is loaded, and a reader who has read enough ends it quietly."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("warm_engine")]

TALK = b"What does the Prompt Template do?\n/show\n/help\n"


@pytest.mark.parametrize("option", ["--yes", "--json"])
def test_a_pipe_loads_no_editor(option: str) -> None:
    code = (
        "import sys\n"
        "from cli.main import run\n"
        f"code = run(['chat', '--model', 'demo', {option!r}])\n"
        "sys.exit(code or 'prompt_toolkit' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=TALK, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"Prompt Template" in done.stdout


def test_the_other_commands_do_not_pay_for_the_editor() -> None:
    code = "import sys, cli.main; sys.exit('prompt_toolkit' in sys.modules or 'wcwidth' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_a_pipe_in_which_nothing_comes_is_said_to_be_read(tmp_path: Path, wirewright_command: Path) -> None:
    errors = tmp_path / "errors"
    with (
        errors.open("wb") as file,
        subprocess.Popen(
            [wirewright_command, "chat", "--model", "demo"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=file,
        ) as process,
    ):
        assert process.stdin is not None
        for _ in range(600):
            if b"Reading messages from standard input" in errors.read_bytes():
                break
            time.sleep(0.1)
        process.stdin.close()
        assert process.wait(60) == 0
    assert b"Reading messages from standard input" in errors.read_bytes()


def test_a_reader_that_has_read_enough_ends_the_conversation_quietly(tmp_path: Path, wirewright_command: Path) -> None:
    arguments = [wirewright_command, "chat", "--model", "demo"]
    with (
        (tmp_path / "errors").open("wb") as errors,
        subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(TALK * 3)
        process.stdin.close()
        assert process.wait(120) == 0
    assert b"Traceback" not in (tmp_path / "errors").read_bytes()
    assert b"Error" not in (tmp_path / "errors").read_bytes()
