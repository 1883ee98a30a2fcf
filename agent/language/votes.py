"""The language of a message, elected by the votes of its words and by what a model detects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeAlias

Detected: TypeAlias = "tuple[str | None, float]"
"""The language that a model detects, None when it is none that counts; and its probability."""

_SURE_WORDS: Final = 4
"""From how many further words on the detected language counts in full."""
_SURE: Final = 0.7
"""Below this probability the detected language yields to the only one that has a word of its own in the message."""
_LEAST_WEIGHT, _MORE_WEIGHT = 0.5, 2.0
"""What a detected language weighs at a probability of zero, and how much more at one."""
_MOST_WEIGHT: Final = _LEAST_WEIGHT + _MORE_WEIGHT * 1.01
"""What a detected language weighs at most: fastText's probabilities go a little beyond one."""


def elected(votes: Mapping[str, float], own: Collection[str], words: int, detect: Callable[[], Detected]) -> str:
    """The language of a message; the model is asked only where its answer can matter, because loading it takes longer.

    Args:
        votes: how many concepts speak for each language.
        own: the languages that have a word of the message alone.
        words: how many words the message has.
        detect: asks the model.
    """
    first = _first(votes)
    added = _MOST_WEIGHT * _share(words)
    most = votes[first]
    rivals = [vote for code, vote in votes.items() if code != first and (vote > 0 or most < 1)]
    if most > 0 and all(vote + added < most for vote in rivals):
        return first
    return counted(votes, own, words, detect())


def counted(votes: Mapping[str, float], own: Collection[str], words: int, detection: Detected) -> str:
    """The language of a message, English when nothing speaks for one.

    Args:
        votes: how many concepts speak for each language.
        own: the languages that have a word of the message alone.
        words: how many words the message has.
        detection: what the model says.
    """
    detected, probability = detection
    weighed = dict(votes)
    if detected is not None and detected in votes:
        unsure = probability < _SURE and len(own) == 1 and detected not in own and [*own] != ["en"]  # all use English
        misled = not votes[detected] and max(votes.values()) >= 1  # by names
        if not unsure and not misled:
            weighed[detected] += (_LEAST_WEIGHT + _MORE_WEIGHT * probability) * _share(words)
    best = _first(weighed)
    return best if weighed[best] > 0 else "en"


def _first(votes: Mapping[str, float]) -> str:
    return max(votes, key=lambda code: votes[code])


def _share(words: int) -> float:
    return min(1, (words - 1) / _SURE_WORDS)
