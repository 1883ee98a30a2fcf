"""Which scenarios belong together: variants of one task, whose results are not independent of each other.

Two scenarios are linked when they share one of these:

- the canvas: the same text at the start, but for its name, blank lines and trailing spaces;
- the wording: the same messages, but for capital letters, punctuation, numbers and what stands in quotation marks, so
  that a scenario and its twin, or one request with other values, belong together;
- the reference: the same flow is right at the end, again but for its name, so that one task in several languages, or
  asked for in several ways, counts once.

A cluster is everything that is linked, directly or through others (a connected component). A verdict carries the hashes
of what its scenario could share, so that a file of scores says by itself what belongs together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from evals.cluster_keys import Linked

if TYPE_CHECKING:
    from evals.score import Verdict


def clusters(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """The cluster of each scenario, named after its first scenario by name.

    Verdicts of several plays may be given together. One that has no keys, as in older files, is a cluster of its own
    unless another verdict of its scenario has some.
    """
    return linked((verdict.scenario, verdict.cluster_keys) for verdict in verdicts)


def linked(keys: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
    """The cluster of each scenario, named after its first scenario by name.

    Args:
        keys: scenarios with what they may share with others, as `cluster_keys` gives it.
    """
    found = Linked()
    for name, shared in keys:
        found.add(name)
        for key in shared:
            found.link(name, key)
    return found.names()
