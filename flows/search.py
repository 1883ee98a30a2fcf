"""Searching the catalogue: ranked, word by word, forgiving of typing errors, with the synonyms of the field."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from flows.catalogue import ComponentType, Match
from flows.jsonvalues import as_text, texts
from flows.synonyms import OTHER_LANGUAGES, PHRASES, SMALL_WORDS, WORDS

if TYPE_CHECKING:
    from flows.catalogue import Catalogue

_NAME, _DESCRIPTION, _CATEGORY, _FIELD, _PORT, _INFO = 6.0, 2.0, 1.2, 1.0, 0.8, 0.25
_PHRASE, _MEANING = 30.0, 9.0
_WORD = re.compile(r"[^\W_]+")
_ENDINGS = (("ies", "y"), ("izing", "iz"), ("ising", "iz"), ("izer", "iz"), ("iser", "iz"), ("ization", "iz"))
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Index:
    """The words of every component, weighted by where they stand (BM25-like: rare words count more)."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._parts = [part for part in catalogue if not part.legacy]
        self._names: dict[str, list[ComponentType]] = defaultdict(list)
        for part in catalogue:
            for name in (part.type, part.display_name):
                known = self._names[_plain(name)]
                if part not in known:
                    known.append(part)
        self._by_type = {part.type: index for index, part in enumerate(self._parts)}
        postings: dict[str, dict[int, float]] = defaultdict(dict)
        for index, part in enumerate(self._parts):
            for stem, weight in _weights(part).items():
                postings[stem][index] = weight
        self._postings: Mapping[str, dict[int, float]] = postings
        self._by_length: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for stem in postings:
            self._by_length[len(stem)].append((stem, _letters(stem)))

    def search(self, query: str, limit: int) -> list[Match]:
        """Return the best matches for a query, best first, at most `limit`."""
        words = _query_words(query)
        scores: dict[int, float] = defaultdict(float)
        for word in words:
            self._score_word(word, scores)
        self._score_meaning(words, scores)
        covered = {index: score for index, score in scores.items() if score > 0}
        exact = self._names.get(_plain(query), []) if query.strip() else []
        top = max(covered.values(), default=0.0)
        scored = [(part, top + (50.0 if part.legacy else 100.0)) for part in exact]
        scored += [(self._parts[index], score) for index, score in covered.items() if self._parts[index] not in exact]
        scored.sort(key=lambda entry: (-entry[1], entry[0].type))
        return [_match(part, score) for part, score in scored[: max(limit, 0)]]

    def _score_word(self, word: str, scores: dict[int, float]) -> None:
        stem = _stem(word)
        known_word = stem in self._postings or word in WORDS or stem in _WORD_STEMS
        found = {stem: 1.0} if known_word else self._similar(stem)
        for known, likeness in found.items():
            posting = self._postings.get(known, {})
            rarity = math.log(1 + (len(self._parts) - len(posting) + 0.5) / (len(posting) + 0.5))
            for index, weight in posting.items():
                scores[index] += likeness * rarity * weight / (weight + 1.2) * 2.2 * _name_bonus(weight)

    def _similar(self, stem: str) -> dict[str, float]:
        if len(stem) < 3:
            return {}
        found: dict[str, float] = {}
        reach, letters = 1 if len(stem) < 6 else 2, _letters(stem)
        for length in range(max(3, len(stem) - reach), len(stem) + reach + 1):
            for known, held in self._by_length.get(length, ()):
                if (letters & ~held).bit_count() <= reach and _distance_within(stem, known, reach):
                    found[known] = SequenceMatcher(None, stem, known).ratio() * 0.7
        if not found and len(stem) >= 4:
            for known in self._postings:
                if known.startswith(stem) or (len(known) >= 4 and stem.startswith(known)):
                    found[known] = 0.5
        best = max(found.values(), default=0.0)
        return {known: likeness for known, likeness in found.items() if likeness >= best - 0.08}

    def _score_meaning(self, words: list[str], scores: dict[int, float]) -> None:
        stems = [_stem(word) for word in words]
        for phrase, meaning in _PHRASE_STEMS.items():
            if _contains(stems, phrase) and meaning in self._by_type:
                scores[self._by_type[meaning]] += _PHRASE
        for word, stem in zip(words, stems, strict=True):
            meanings = WORDS.get(word) or _WORD_STEMS.get(stem) or self._misspelt(stem)
            for place, meaning in enumerate(meanings):
                if meaning in self._by_type:
                    scores[self._by_type[meaning]] += _MEANING * 0.75**place

    def _misspelt(self, stem: str) -> tuple[str, ...]:
        if stem in self._postings or len(stem) < 5:
            return ()
        reach = 1 if len(stem) < 8 else 2
        for known, meanings in _WORD_STEMS.items():
            if abs(len(known) - len(stem)) <= reach and len(known) >= 4 and _distance_within(stem, known, reach):
                return meanings
        return ()


def _weights(part: ComponentType) -> dict[str, float]:
    weights: dict[str, float] = defaultdict(float)

    def add(text: str, weight: float, *, once: bool = False) -> None:
        for stem in {_stem(word) for word in _words(text)}:
            weights[stem] = max(weights[stem], weight) if once else weights[stem] + weight

    add(part.type, _NAME)
    add(part.display_name, _NAME, once=True)
    add(part.description, _DESCRIPTION)
    add(part.category.replace("_", " "), _CATEGORY)
    for output in part.outputs:
        add(" ".join(texts(output.get("types"))), _PORT, once=True)
        add(as_text(output.get("name")), _PORT, once=True)
    for name, field in part.template.items():
        if name == "code":
            continue
        add(name, _FIELD, once=True)
        add(as_text(field.get("display_name")), _FIELD, once=True)
        add(" ".join(texts(field.get("input_types"))), _PORT, once=True)
        add(" ".join(texts(field.get("options"))[:20]), _INFO, once=True)
        add(as_text(field.get("info"))[:200], _INFO, once=True)
    return weights


def _name_bonus(weight: float) -> float:
    return 2.0 if weight >= _NAME else 1.0


def _match(part: ComponentType, score: float) -> Match:
    return Match(
        type=part.type,
        display_name=part.display_name,
        score=round(score, 3),
        description=part.description,
        category=part.category,
    )


def _query_words(query: str) -> list[str]:
    words = [OTHER_LANGUAGES.get(word, word) for word in _words(query[:400])]
    kept = [word for word in words if word not in SMALL_WORDS or word in WORDS]
    return list(dict.fromkeys(kept or words))[:24]


def _words(text: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(text):
        parts = _HUMPS.split(word) if not word.isupper() else [word]
        found += [part.casefold() for part in parts]
        if len(parts) > 1:
            found.append(word.casefold())
    return found


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _stem(word: str) -> str:
    """Return a word without the endings of English plurals and verbs, roughly."""
    for ending, put in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            return word[: -len(ending)] + put
    for ending in ("ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    for ending in ("ings", "ing", "ers", "er", "ors", "or", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            stem = word[: -len(ending)]
            doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] in "bdgmnprt"
            return stem[:-1] if doubled else stem.removesuffix("e")
    return word


def _contains(stems: list[str], phrase: tuple[str, ...]) -> bool:
    """Say whether the phrase's words stand in the query in their order, with at most one other word between."""
    for start, stem in enumerate(stems):
        if stem != phrase[0]:
            continue
        place, fits = start, True
        for wanted in phrase[1:]:
            nearby = stems[place + 1 : place + 3]
            if wanted not in nearby:
                fits = False
                break
            place += 1 + nearby.index(wanted)
        if fits:
            return True
    return False


def _distance_within(left: str, right: str, reach: int) -> bool:
    """Say whether at most `reach` letters must be changed, added, removed or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, start=1):
        older, before, row = before, row, [i]
        for j, other in enumerate(right, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == right[j - 2] and left[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > reach:
            return False
    return row[-1] <= reach


def _letters(word: str) -> int:
    """Return the set of a word's letters as bits, to rule out unlike words fast."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 31)
    return bits


def _stemmed(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(_stem(word) for word in words)


_PHRASE_STEMS = {_stemmed(phrase.split()): meaning for phrase, meaning in PHRASES.items()}
_WORD_STEMS = {_stem(word): meanings for word, meanings in WORDS.items()}
