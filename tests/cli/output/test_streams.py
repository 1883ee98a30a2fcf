"""JSON on standard output: one line a document, readable by every parser."""

import io
import json
import math
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.output.streams import encoded, paced_progress, print_result, printable, progress

ROOT = Path(__file__).parents[3]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values)
def test_a_value_comes_back_from_its_line(value: object) -> None:
    assert json.loads(encoded(value)) == value


@given(values)
def test_a_document_is_one_line_for_every_reader(value: object) -> None:
    assert len(encoded(value).splitlines()) == 1


def test_numbers_that_json_does_not_allow_become_null() -> None:
    value = {"a": [math.nan, {"b": math.inf}], "c": (1.5, -math.inf), "d": "NaN"}
    assert json.loads(encoded(value)) == {"a": [None, {"b": None}], "c": [1.5, None], "d": "NaN"}


def test_a_message_that_repeats_is_noted_once(capsys: pytest.CaptureFixture[str]) -> None:
    tell = progress()
    for message in ("one", "one", "two", "one"):
        tell(message)
    assert capsys.readouterr() == ("", "one\ntwo\none\n")


@pytest.mark.parametrize("stream", ["<", ">", "2>"])
def test_a_command_ends_without_a_trace_when_a_standard_stream_is_closed(stream: str, tmp_path: Path) -> None:
    line = f'"{sys.executable}" -m cli.main components search chat {stream}&-'
    variables = {**os.environ, "WIREWRIGHT_DATA": str(tmp_path)}
    done = subprocess.run(["sh", "-c", line], cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


def test_control_characters_reach_a_file_as_they_are_and_no_terminal() -> None:
    parent, child = pty.openpty()
    with os.fdopen(child, "w") as terminal:
        assert printable(terminal, "a\x1b]0;x\x07\x9b1m\tb\n") == "a\\x1b]0;x\\x07\\x9b1m\tb\n"
    os.close(parent)
    assert printable(io.StringIO(), "a\x1b[1mb") == "a\x1b[1mb"


def test_a_result_goes_into_a_pipe_to_the_letter(capsys: pytest.CaptureFixture[str]) -> None:
    print_result("A\x1b[31mB\x07")
    assert capsys.readouterr().out == "A\x1b[31mB\x07\n"


def test_progress_that_stays_is_shown_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    show = paced_progress(10, lambda: now[0])
    for moment, message in ((0.0, "1 of 9"), (3.0, "2 of 9"), (10.0, "3 of 9"), (19.0, "4 of 9"), (30.0, "3 of 9")):
        now[0] = moment
        show(message)
    assert capsys.readouterr().err.splitlines() == ["1 of 9", "3 of 9"]
