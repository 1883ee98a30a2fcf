"""Spelling correction: similar words, completions, and words written together."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice, takewhile

from rapidfuzz.distance import OSA

from flows.search.tokenizer import stem

_SHORTEST = 4
_LIKENESS = {1: 0.85, 2: 0.65}
_SWAPPED = 0.9
"""For two swapped letters, the mistake that is least likely to produce another word."""
_BEGINNING = 0.6
_REMEMBERED = 2_000
"""How many misspelt words' meanings are remembered."""


class Spelling:
    """Known words, indexed by length and letters so that dissimilar ones are skipped quickly."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(word for word in known if len(word) >= 3 and word.isalpha())
        self._sorted = sorted(self._known)
        self._stems = frozenset(map(stem, self._known))
        self._nearest: dict[str, dict[str, float]] = {}
        self._by_length: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for word in self._sorted:
            self._by_length[len(word)].append((word, _letters(word)))

    def near(self, word: str, limit: int = 3) -> dict[str, float]:
        """Return the known words that a misspelt one may stand for, with likelihoods from 0 to 1."""
        if len(word) < _SHORTEST or not word.isalpha():
            return {}
        found = self._nearest.get(word)
        if found is None:
            found = self._mistyped(word) or self._begun(word)
            if len(self._nearest) < _REMEMBERED:
                self._nearest[word] = found
        best = sorted(found, key=lambda known: (-found[known], known[:2] != word[:2], known))[:limit]
        return {known: found[known] for known in best}

    def parts(self, word: str) -> tuple[str, str] | None:
        """Return the two known words that `word` consists of, preferring the split with the longest word."""
        cuts = [(word[:at], word[at:]) for at in range(3, len(word) - 2)]
        whole = [cut for cut in cuts if self._is_word(cut[0]) and self._is_word(cut[1])]
        return max(whole, key=lambda cut: max(len(cut[0]), len(cut[1])), default=None)

    def _is_word(self, part: str) -> bool:
        return part in self._known or (len(part) > 3 and part in self._stems)

    def _mistyped(self, word: str) -> dict[str, float]:
        reach, letters = (1 if len(word) < 8 else 2), _letters(word)
        found: dict[str, float] = {}
        for length in range(max(3, len(word) - reach), len(word) + reach + 1):
            for known, held in self._by_length.get(length, ()):
                if (letters & ~held).bit_count() <= reach and (held & ~letters).bit_count() <= reach:
                    steps = OSA.distance(word, known, score_cutoff=reach)
                    if steps <= reach and (steps == 1 or known[0] == word[0]):
                        swapped = steps == 1 and len(known) == len(word) and letters == held
                        found[known] = _SWAPPED if swapped else _LIKENESS.get(steps, 1.0)
        best = max(found.values(), default=0.0)
        return {known: likeness for known, likeness in found.items() if likeness == best}

    def _begun(self, word: str) -> dict[str, float]:
        after = islice(self._sorted, bisect_left(self._sorted, word), None)
        longer = dict.fromkeys(takewhile(lambda known: known.startswith(word), after), _BEGINNING)
        begins = (word[:length] for length in range(_SHORTEST + 1, len(word) + 1))
        return longer or dict.fromkeys((known for known in begins if known in self._known), _BEGINNING)


def _letters(word: str) -> int:
    """Return the set of a word's letters as bits."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 31)
    return bits
