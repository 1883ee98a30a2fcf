"""The journal: attempts as JSON lines, each written as soon as it ends, so that a play can be resumed."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from evals.attempt import Attempt, Key
from evals.jsonl import JsonLines


def open_journal(path: Path, *, resume: bool = True) -> JsonLines[Attempt]:
    """The journal of a file, to append to.

    Args:
        path: the file; it is created when it does not exist.
        resume: whether what it holds is kept. A last line that a crash cut off is dropped in any case.
    """
    journal = JsonLines(path, Attempt)
    if resume and path.exists():
        journal.drop_incomplete_line()
    else:
        journal.write(())
    return journal


def read_journal(path: Path) -> Iterator[Attempt]:
    """The attempts of a journal, in order. Shards of a play, one after the other in a file, are a journal.

    Raises:
        JsonLinesError: at a line that is not an attempt.
    """
    return JsonLines(path, Attempt).read()


def latest_attempts(attempts: Iterable[Attempt]) -> dict[Key, Attempt]:
    """The attempt that counts of each key: the last one, but never a harness error in place of one that was played."""
    found: dict[Key, Attempt] = {}
    for attempt in attempts:
        if attempt.harness_error is None or attempt.key not in found or found[attempt.key].harness_error is not None:
            found[attempt.key] = attempt
    return found
