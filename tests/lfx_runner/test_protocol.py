"""Lines cut from a stream, and the environment that a run is given."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfx_runner import protocol
from lfx_runner.protocol import LineBuffer, encode, run_environment
from lfx_runner.stores import files
from runtime.engine import protocol as client
from runtime.engine.environment_variables import PASSED
from runtime.engine.runs import event_filter


@given(st.lists(st.binary(max_size=40)), st.integers(1, 7))
def test_lines_come_out_as_they_went_in_however_the_stream_is_cut(parts: list[bytes], size: int) -> None:
    lines = [part.replace(b"\n", b"") for part in parts]
    stream = b"".join(line + b"\n" for line in lines)
    buffer = LineBuffer(1000)
    found = [line for at in range(0, len(stream), size) for line in buffer.feed(stream[at : at + size])]
    assert found == lines


@given(st.lists(st.sampled_from([b"short", b"x" * 50, b""]), max_size=8), st.integers(1, 60))
def test_a_line_that_is_too_long_is_reported_once_and_the_next_ones_come_through(lines: list[bytes], size: int) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    buffer = LineBuffer(10)
    found = [line for at in range(0, len(stream), size) for line in buffer.feed(stream[at : at + size])]
    assert found == [line if len(line) <= 10 else None for line in lines]


def test_a_message_is_one_line_of_json() -> None:
    line = encode({"text": "a\nb\u2028 é \ud800"})
    assert line.count(b"\n") == 1
    assert json.loads(line)["text"].startswith("a\nb\u2028 é")
    with pytest.raises(ValueError):
        encode({"n": float("nan")})


def test_a_run_gets_nothing_but_the_allowed_variables_and_its_folders() -> None:
    seen = run_environment({"PATH": "/bin", "OPENAI_API_KEY": "k", "HOME": "/root", "TZ": "UTC"}, "/h", "/t")
    assert {seen.pop(name) for name in ("HOME", "TMPDIR")} == {"/h", "/t"}
    assert (seen.pop("PATH"), seen.pop("TZ")) == ("/bin", "UTC")
    assert set(seen) == set(protocol.ENGINE_VARIABLES)


def test_client_and_runner_speak_the_same_protocol_and_pass_the_same_variables() -> None:
    assert protocol.PROTOCOL == client.PROTOCOL
    assert protocol.MAX_REQUEST == client.MAX_REQUEST
    assert (protocol.MAX_RESULT, protocol.MAX_VALUES) == (client.MAX_RESULT, client.MAX_VALUES)
    policy = pytest.importorskip("lfx_runner.confine.policy")  # not on Windows
    assert policy.MEMORY + int(policy.FOLDER_SIZE.removesuffix("m")) * 1024**2 == client.MAX_MEMORY_MB * 1024**2
    assert (files.MAX_FILES, files.MAX_BYTES) == (client.MAX_FILES, client.MAX_FILES_SIZE)
    limits = (event_filter.MAX_EVENT, event_filter.MAX_EVENTS, event_filter.MAX_EVENTS_SIZE)
    assert limits == (protocol.MAX_EVENT, protocol.MAX_EVENTS, protocol.MAX_EVENTS_SIZE)
    assert protocol.MAX_RESULT + files.MAX_BYTES + protocol.MAX_EVENTS_SIZE < client.MAX_WRITTEN
    assert set(PASSED) - {"SYSTEMROOT"} == protocol.PASSED_VARIABLES
