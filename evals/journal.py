"""The journal: attempts as JSON lines, each written as soon as it ends, so that a play can be resumed."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from evals.attempt import Attempt, Key
from evals.jsonl import JsonLines


def open_journal(path: Path, *, resume: bool = True) -> JsonLines[Attempt]:
    """Open a journal for appending.

    Args:
        path: the file; it is created if it does not exist.
        resume: whether its attempts are kept. An incomplete last line, as after a crash, is dropped.
    """
    journal = JsonLines(path, Attempt)
    if resume and path.exists():
        journal.drop_incomplete_line()
    else:
        journal.write(())
    return journal


def mend_journal(path: Path) -> bool:
    """Drop an incomplete last line, as after a crash; returns whether there was one."""
    return JsonLines(path, Attempt).drop_incomplete_line()


def read_journal(path: Path) -> Iterator[Attempt]:
    """The attempts of a journal, in order. The concatenated shards of a play are a journal too.

    Raises:
        JsonLinesError: at a line that is not an attempt.
    """
    return JsonLines(path, Attempt).read()


def latest_attempts(attempts: Iterable[Attempt]) -> dict[Key, Attempt]:
    """The attempt that counts of each key: the last one that the harness could play, or else the last one."""
    found: dict[Key, Attempt] = {}
    for attempt in attempts:
        if attempt.harness_error is None or attempt.key not in found or found[attempt.key].harness_error is not None:
            found[attempt.key] = attempt
    return found
