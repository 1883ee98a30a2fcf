"""What commands leave in a terminal and in a pipe: whole letters in every locale, no escape sequences, no debris."""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shared.flow_texts import LOUDER

ROOT = Path(__file__).parent.parent.parent.parent
LOCALES = {
    "C": {"LC_ALL": "C"},
    "Latin 1": {"LC_ALL": "en_US.ISO-8859-1"},
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
}


def environment(**more: str) -> dict[str, str]:
    """The environment without anything that says which letters or colours are wanted."""
    hidden = ("LC_", "LANG", "PYTHONUTF8", "PYTHONIOENCODING", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(hidden)}, **more}


LOOSE = """name: Loose
nodes:
  chat: ChatInput
  prompt: Prompt Template
  answer: ChatOutput
edges:
  prompt.prompt -> answer.input_value
"""

Piped = Callable[..., subprocess.CompletedProcess[bytes]]
OnTerminal = Callable[..., tuple[int, str]]


@pytest.fixture
def piped(wirewright_command: Path) -> Piped:
    """Runs a command in a pipe."""

    def run(
        *arguments: str, stdin: str = "", folder: Path = ROOT, **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [wirewright_command, *arguments],
            input=stdin.encode(),
            capture_output=True,
            cwd=folder,
            env=environment(**variables),
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def on_terminal(wirewright_command: Path) -> OnTerminal:
    """Runs a command on a terminal: gives its exit code, and all that it wrote there."""

    def run(*arguments: str, columns: int = 0, **variables: str) -> tuple[int, str]:
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        process = subprocess.Popen(
            [wirewright_command, *arguments],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            cwd=ROOT,
            env=environment(**{"TERM": "xterm", **variables}),
        )
        os.close(follower)
        written = b""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and select.select([leader], [], [], 60)[0]:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # Linux's way to say that the other end is closed
                break
            if not piece:
                break
            written += piece
        os.close(leader)
        return process.wait(timeout=60), written.decode()

    return run


@pytest.mark.parametrize("variables", LOCALES.values(), ids=LOCALES)
def test_no_letter_is_lost_whatever_the_locale(variables: dict[str, str], piped: Piped, tmp_path: Path) -> None:
    spec = LOUDER.replace("Louder", "Grüße").replace("Say it louder", "你好 Ä")
    (tmp_path / "größe 漢字.flow").write_text(spec, encoding="utf-8")
    built = piped("flow", "build", "größe 漢字.flow", "--out", "ausgäbe.json", folder=tmp_path, **variables)
    assert built.returncode == 0, built.stderr
    assert "Grüße: 3 nodes".encode() in built.stdout
    assert "Written to ausgäbe.json.".encode() in built.stdout
    assert "你好 Ä: {text}" in (tmp_path / "ausgäbe.json").read_text(encoding="utf-8")
    printed = piped("flow", "spec", "-", "--json", stdin=spec, folder=tmp_path, **variables)
    assert "你好 Ä" in json.loads(printed.stdout)["spec"]
    missing = piped("flow", "check", "höhle.json", folder=tmp_path, **variables)
    assert (missing.returncode, "höhle.json does not exist." in missing.stderr.decode()) == (2, True)
    found = piped("components", "search", "-", "--limit", "1", stdin="読む PDF\nüber\n", folder=tmp_path, **variables)
    assert "読む PDF".encode() in found.stdout
    assert "über".encode() in found.stdout + found.stderr


@pytest.mark.parametrize("variables", [LOCALES["ascii"]], ids=["ascii"])
def test_a_message_and_its_answer_keep_their_letters(variables: dict[str, str], piped: Piped, tmp_path: Path) -> None:
    wanted = {**variables, "WIREWRIGHT_DATA": str(tmp_path / "dätä")}
    asked = piped("ask", "Wofür ist der Chat Input?", "--flow", "-", stdin=LOUDER, folder=tmp_path, **wanted)
    assert asked.returncode == 0, asked.stderr
    (tmp_path / "übung.txt").write_text("x")
    added = piped("files", "add", "übung.txt", folder=tmp_path, **wanted)
    assert "Added übung.txt".encode() in added.stderr
    listed = piped("files", "list", "--json", folder=tmp_path, **wanted)
    assert json.loads(listed.stdout)["files"][0]["path"] == "übung.txt"


PLAIN = [
    ["--help"],
    ["flow", "templates"],
    ["components", "search", "read a file"],
    ["doctor"],
    ["eval", "list", "--tag", "branch"],
    ["flow", "check", "missing.json"],
    ["ask", "What is a Chat Input?"],
]


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_nothing_escapes_into_a_pipe_even_when_colours_are_forced(arguments: list[str], piped: Piped) -> None:
    done = piped(*arguments, TERM="xterm", FORCE_COLOR="1")
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"\r" not in done.stdout + done.stderr


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_terminal_without_escape_sequences_gets_none(variables: dict[str, str], on_terminal: OnTerminal) -> None:
    code, written = on_terminal("ask", "What is a Chat Input?", **variables)
    assert code == 0
    assert "\x1b" not in written
    assert "Reading your request..." in written


def test_progress_on_a_terminal_is_taken_back(on_terminal: OnTerminal) -> None:
    code, written = on_terminal("ask", "What is a Chat Input?")
    assert code == 0
    before, _, after = written.rpartition("Reading your request...")
    assert "\x1b[2K" in after, "its line is cleared"
    assert "\x1b[?25l" not in written or "\x1b[?25h" in after, "the cursor is shown again"
    assert before.count("Reading your request...") < 50
    assert "Chat Input (`ChatInput`)" in after


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_a_run_on_a_terminal_takes_its_progress_back(on_terminal: OnTerminal, tmp_path: Path) -> None:
    spec = tmp_path / "louder.flow"
    spec.write_text(LOUDER)
    code, written = on_terminal("flow", "run", str(spec), "--input", "hi")
    assert code == 0
    assert "\r\x1b[2KStarting the flow engine" in written
    assert written.endswith("\r\x1b[2KSay it louder: hi\r\n")


CLOSED = [
    ["components", "search", "a"],
    ["components", "describe", "ChatInput"],
    ["eval", "show", "build-only"],
    ["eval", "list"],
    ["flow", "spec", "LOUDER"],
    ["flow", "check", "LOUDER", "--json"],
    ["flow", "build", "LOUDER", "--json"],
    ["ask", "What is a Chat Input?", "--json"],
    ["ask", "What is a Chat Input?"],
    ["models", "list"],
    ["doctor"],
    ["eval", "run", "--help"],
]


@pytest.mark.parametrize("arguments", CLOSED, ids=" ".join)
def test_a_reader_that_left_is_no_failure_of_any_command(
    arguments: list[str], wirewright_command: Path, tmp_path: Path
) -> None:
    spec = tmp_path / "louder.flow"
    spec.write_text(LOUDER)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [wirewright_command, *(str(spec) if one == "LOUDER" else one for one in arguments)],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(),
        timeout=120,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr.replace(b"Reading your request...\n", b"")) == (0, b"")


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("arguments", [["flow", "build", "FLOW"], ["flow", "check", "FLOW"]], ids=" ".join)
def test_the_words_of_a_fault_stay_whole_on_a_narrow_terminal(
    arguments: list[str], columns: int, on_terminal: OnTerminal, piped: Piped, tmp_path: Path
) -> None:
    spec = tmp_path / "loose.flow"
    spec.write_text(LOOSE)
    named = [str(spec) if one == "FLOW" else one for one in arguments]
    whole = piped(*named)
    _, written = on_terminal(*named, columns=columns)
    assert b"unreachable" in whole.stderr + whole.stdout
    assert [line for line in written.splitlines() if len(line) > columns] == []
    assert sorted(written.split()) == sorted((whole.stderr + whole.stdout).decode().split())


@pytest.mark.parametrize(
    "arguments",
    [["components", "search", "slack"], ["components", "search", "frobnicator"], ["flow", "templates", "nope"],
     ["flow", "check", "missing.json"], ["ask", "hi", "--model", "openai:gpt-5"]],
    ids=" ".join,
)  # fmt: skip
def test_the_words_of_a_message_stay_whole_on_a_terminal(
    arguments: list[str], on_terminal: OnTerminal, piped: Piped
) -> None:
    whole = piped(*arguments)
    _, written = on_terminal(*arguments, columns=60)
    assert [line for line in written.splitlines() if len(line) > 60] == []
    assert set(whole.stderr.decode().split()) <= set(written.split())


@pytest.mark.parametrize(
    "arguments",
    [["flow", "templates"], ["components", "search", "read a pdf"], ["components", "describe", "Agent"]],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize(("columns", "exported", "most"), [(60, "200", 60), (0, "", 80), (0, "70", 70)])
def test_the_terminal_decides_how_wide_lists_are(
    arguments: list[str], columns: int, exported: str, most: int, on_terminal: OnTerminal
) -> None:
    code, written = on_terminal(*arguments, columns=columns, **({"COLUMNS": exported} if exported else {}))
    assert code == 0
    assert max(map(len, written.splitlines())) in range(most - 20, most + 1)


@pytest.mark.parametrize(
    ("message", "code", "told"),
    [
        ("O que faz o componente Chat Input?", 0, "Chat Input (`ChatInput`)"),
        ("明日の株価を教えて", 1, "それはできません。Langflow"),
    ],
)
def test_an_answer_on_a_terminal_is_in_the_language_of_the_message(
    message: str, code: int, told: str, on_terminal: OnTerminal
) -> None:
    ended, screen = on_terminal("ask", message, columns=80)
    assert (ended, told in screen) == (code, True), screen
    assert "\ufffd" not in screen
    assert "demo planner" not in screen
