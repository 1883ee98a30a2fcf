"""The log goes on when nobody reads it, and says what was lost."""

import io
import logging
import os

from server.telemetry.queued_output import QueuedOutput


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("server", logging.INFO, __file__, 1, text, (), None)


def test_lines_are_written_in_order() -> None:
    text = io.StringIO()
    output = QueuedOutput(text)
    for number in range(1_000):
        output.emit(record(str(number)))
    output.flush()
    assert text.getvalue().split() == [str(number) for number in range(1_000)]


def test_a_reader_that_does_not_read_holds_up_nobody_and_is_told_what_it_missed() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        output = QueuedOutput(stream, lines=100)
        for number in range(5_000):
            output.emit(record(f"{number} " + "x" * 1_000))
        with os.fdopen(reading) as reader:
            numbers, lost = list[int](), 0
            while len(numbers) + lost < 5_000:
                first, second, *_ = f"{next(reader)} more".split()
                if second == "lines":
                    lost += int(first)
                elif first != "more":
                    numbers.append(int(first))
                output.emit(record("more"))
    assert lost
    assert numbers == sorted(numbers)


def test_a_reader_that_has_gone_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        output = QueuedOutput(stream)
        output.emit(record("a"))
        output.flush()
        output.emit(record("b"))
        output.flush()
