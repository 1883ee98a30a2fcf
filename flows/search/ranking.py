"""Ranking components for a query, with synonyms, translations and spelling correction."""

from __future__ import annotations

import heapq
import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rapidfuzz import process
from rapidfuzz.distance import Indel

from flows.component_type import ComponentType, Match
from flows.json_values import texts
from flows.search.index import NAME, Phrase, PhraseUse, Segment, phrase_key, phrases_in
from flows.search.spelling import Spelling
from flows.search.synonyms import FOREIGN_SMALL_WORDS, QUERY_PATTERNS, SMALL_WORDS, WEAK_WORDS, synonyms, translations
from flows.search.tokenizer import fold, humps, plain, stem, words

_LONGEST_QUERY, _MOST_WORDS = 600, 32
_SYNONYM, _TRANSLATION, _WEAK = 0.4, 0.9, 0.3
_UNCOVERED = 0.25
_PHRASE, _NAMED_EXACTLY, _NAMED = 0.6, 100.0, 50.0
_BY_NAME = 1.4
_COMMON = 1500
_BELOW_CURRENT = 0.95
_LIKE, _ALIKE = 0.3, 0.6
_LONGEST_NAME = 80
_REMEMBERED = 16

_EXCLUDED = re.compile(r"(?i)(?<=\w )without (?:(?:an?|any|the|using) )?\w+")

Place = tuple[int, int]
"""A component: the number of its segment, and its number there."""


@dataclass(frozen=True)
class Term:
    """One word of a query: its weight, and the stems that stand for it, weighted from 0 to 1."""

    stems: Mapping[str, float]
    weight: float


class Index:
    """Searches one or more segments; a user's components are a segment next to that of the built-ins."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._segments = tuple(segments)
        self._rarities: dict[str, float] = {}
        self._size = sum(len(segment.components) for segment in self._segments) or 1

    def search(
        self, query: str, limit: int, allowed: Collection[str] | None = None, *, legacy: bool = False
    ) -> list[Match]:
        """Return the best matches for a query, best first.

        Args:
            query: words, names or a sentence.
            limit: the maximum number of matches.
            allowed: the types to choose from; None means all.
            legacy: rank legacy components like the others, whether or not they are named.
        """
        ranked = self._ranking(query, legacy=legacy)
        if allowed is not None:
            ranked = {place: score for place, score in ranked.items() if self._component(place).type in allowed}
        best = heapq.nsmallest(max(limit, 0), ranked.items(), key=lambda item: (-item[1], item[0]))
        return [self._component(place).as_match(score) for place, score in best]

    @cached_property
    def _ranking(self) -> Callable[..., Mapping[Place, float]]:
        """The scores for a query; a turn searches for the same message several times."""
        return lru_cache(maxsize=_REMEMBERED)(self._ranked_for)

    def _ranked_for(self, query: str, *, legacy: bool) -> Mapping[Place, float]:
        query_words, foreign = self._words_of(query)
        terms = self._terms(query_words, foreign=foreign)
        scores = self._scores(terms)
        by_phrase = self._phrase_matches(terms, query_words, scores)
        named = self._name_matches(query, query_words)
        return self._ranked(scores, by_phrase, named, legacy=legacy)

    def mentions(self, word: str) -> bool:
        """Return whether a word, or another form of it, is known from any component."""
        return word in self._vocabulary or self._knows(stem(word))

    def nearest(self, query: str, limit: int) -> list[Match]:
        """Return the current components whose names are most similar to the query, with a low threshold."""
        found = self._similar_names(query, limit, _LIKE)
        return [self._component(place).as_match(likeness) for place, likeness in found.items()]

    def similar(self, name: str, limit: int) -> list[str]:
        """Return the types that a wrong type name most likely refers to, best first; legacy ones last."""
        found = list(self._similar_names(name, limit, _ALIKE))
        wanted = plain(name)
        if wanted and len(found) < limit:
            inside = [
                (len(known), (at, number))
                for at, segment in enumerate(self._segments)
                for known, numbers in segment.named.items()
                if wanted in known or (len(known) > 2 and known in wanted)
                for number in numbers
            ]
            found += [place for _, place in sorted(inside)]
        types = [self._component(place).type for place in sorted(found, key=self._is_hidden)]
        types = types or [match.type for match in self.search(name, limit)]
        return list(dict.fromkeys(types))[:limit]

    def _similar_names(self, query: str, limit: int, least: float) -> dict[Place, float]:
        """Return the components with a name of at least the similarity `least`, best first."""
        wanted = plain(query)[:_LONGEST_NAME]
        scored: list[tuple[float, Place]] = []
        for at, segment in enumerate(self._segments):
            for name, likeness, _ in process.extract_iter(
                wanted, list(segment.named) if wanted else (), scorer=Indel.normalized_similarity, score_cutoff=least
            ):
                scored += [(likeness, (at, number)) for number in segment.named[name]]
        best: dict[Place, float] = {}
        for likeness, place in sorted(scored, key=lambda item: (self._is_hidden(item[1]), -item[0], item[1])):
            if len(best) < limit:
                best.setdefault(place, likeness)
        return best

    def _is_hidden(self, place: Place) -> bool:
        return place[1] in self._segments[place[0]].hidden

    def _component(self, place: Place) -> ComponentType:
        return self._segments[place[0]].components[place[1]]

    @cached_property
    def _current(self) -> frozenset[str]:
        return frozenset(
            component.type for segment in self._segments for component in segment.components if not component.legacy
        )

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(self._vocabulary)

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        """Every English word that occurs in the index."""
        return frozenset[str]().union(*(segment.words for segment in self._segments))

    def _knows(self, stemmed: str) -> bool:
        return any(stemmed in segment.postings for segment in self._segments)

    def _words_of(self, query: str) -> tuple[list[str], bool]:
        """Return the words of a query without stop words, with words for its patterns, and whether they are foreign."""
        text = _EXCLUDED.sub(" ", query[:_LONGEST_QUERY])
        found = words(text)
        found += [word for pattern, meaning in QUERY_PATTERNS if pattern.search(text) for word in meaning.split()]
        foreign = self._is_foreign(found)
        small = SMALL_WORDS | FOREIGN_SMALL_WORDS if foreign else SMALL_WORDS
        kept = [word for word in found if word not in small] or found
        return list(dict.fromkeys(kept))[:_MOST_WORDS], foreign

    def _is_foreign(self, found: list[str]) -> bool:
        if any(word in FOREIGN_SMALL_WORDS and word not in SMALL_WORDS for word in found):
            return True
        return any(self._is_unknown(word) and translations(word) for word in found)

    def _is_unknown(self, word: str) -> bool:
        return word not in self._vocabulary and word not in SMALL_WORDS and not self._knows(stem(word))

    def _terms(self, query_words: list[str], *, foreign: bool) -> list[Term]:
        terms: list[Term] = []
        for place, word in enumerate(query_words):
            weight = _WEAK if word in WEAK_WORDS else 1.0
            stems = dict(self._meanings(word, foreign=foreign))
            if place and (joined := query_words[place - 1] + word) in self._vocabulary:
                stems.setdefault(stem(joined), 1.0)
            if stems:
                terms.append(Term(stems, weight))
        return terms

    def _meanings(self, word: str, *, foreign: bool) -> Iterator[tuple[str, float]]:
        root = stem(word)
        translated = translations(word) if foreign or not self._knows(root) else ()
        # A foreign word that happens to look like an English one is not that word.
        is_english = self._knows(root) and not (translated and word not in self._vocabulary)
        roots: dict[str, float] = {root: 1.0} if is_english else {}
        if foreign or not roots:
            for english in translated:
                roots.setdefault(stem(english), _TRANSLATION)
        if not roots and root not in synonyms():
            roots = self._corrected(word)
        found: dict[str, float] = {}
        for known, weight in (roots or {root: 1.0}).items():
            found[known] = max(weight, found.get(known, 0.0))
            for other in synonyms().get(known, ()):
                found[other] = max(weight * _SYNONYM, found.get(other, 0.0))
        return ((known, weight) for known, weight in found.items() if self._knows(known))

    def _corrected(self, word: str) -> dict[str, float]:
        near = self._spelling.near(word)
        if not near and (parts := self._spelling.parts(word)):
            return {stem(part): 1.0 for part in parts}
        return {stem(known): likeness for known, likeness in near.items()}

    def _rarity(self, stemmed: str) -> float:
        known = self._rarities.get(stemmed)
        if known is None:
            held = sum(len(segment.postings.get(stemmed, ())) for segment in self._segments)
            known = math.log(1 + (self._size - held + 0.5) / (held + 0.5))
            if held:
                self._rarities[stemmed] = known
        return known

    def _scores(self, terms: list[Term]) -> dict[Place, float]:
        """Return each component's score: the sum over the words, reduced where words of the query are missing."""
        worth = {
            number: term.weight * max(self._rarity(stemmed) * share for stemmed, share in term.stems.items())
            for number, term in enumerate(terms)
        }
        whole = sum(worth.values())
        scores: dict[Place, float] = {}
        for at, segment in enumerate(self._segments):
            sums: dict[int, float] = {}
            covered: dict[int, float] = {}
            for number in sorted(worth, key=lambda number: -worth[number]):
                term = terms[number]
                for place, (score, share) in self._found(term, segment, sums).items():
                    sums[place] = sums.get(place, 0.0) + score * term.weight
                    covered[place] = covered.get(place, 0.0) + worth[number] * share
            for place, score in sums.items():
                scores[at, place] = score * (_UNCOVERED + (1 - _UNCOVERED) * covered[place] / whole)
        return scores

    def _found(self, term: Term, segment: Segment, sums: Mapping[int, float]) -> dict[int, tuple[float, float]]:
        """Return the components that contain the term, with their score and how well they match its word.

        A very common word only scores components that rarer words have found.
        """
        found: dict[int, tuple[float, float]] = {}
        for stemmed, share in term.stems.items():
            posting = segment.postings.get(stemmed)
            if not posting:
                continue
            gain = self._rarity(stemmed) * share
            held: Iterable[tuple[int, float]] = posting.items()
            if sums and len(posting) > max(_COMMON, len(sums)):
                held = [(place, posting[place]) for place in sums if place in posting]
            for place, weight in held:
                score = gain * weight
                if place not in found or score > found[place][0]:
                    found[place] = (score, share)
        return found

    def _phrase_matches(
        self, terms: list[Term], query_words: list[str], scores: dict[Place, float]
    ) -> dict[Place, bool]:
        """Add to the scores of components whose name or a phrase for them is in the query.

        Returns these components, with whether a paraphrase (not only the name) matched.
        """
        stems = [max(term.stems, key=lambda known: term.stems[known]) for term in terms]
        by_phrase: dict[Place, bool] = {}
        gains: dict[Place, list[float]] = defaultdict(list)
        for key in sorted({*phrases_in(stems), phrase_key(query_words)}):
            for at, segment in enumerate(self._segments):
                for number, how in segment.phrases.get(key, {}).items():
                    by_phrase[at, number] = PhraseUse.PARAPHRASE in how or by_phrase.get((at, number), False)
                    gains[at, number].append(self._phrase_rarity(key) * (_BY_NAME if PhraseUse.NAME in how else 1.0))
        for place, worth in gains.items():
            scores[place] = scores.get(place, 0.0) + _PHRASE * (0.75 * max(worth) + 0.25 * sum(worth))
        return by_phrase

    def _phrase_rarity(self, key: Phrase) -> float:
        return sum(self._rarity(stemmed) * (_WEAK if stemmed in _WEAK_STEMS else 1.0) for stemmed in key)

    def _name_matches(self, query: str, query_words: list[str]) -> dict[Place, float]:
        """Return the components that the query names, exactly or as its only words."""
        wanted = " ".join(query.split())
        found: dict[Place, float] = {}
        written = {wanted, *(word.strip(".,:;!?'\"()`") for word in wanted.split() if not word.islower())}
        for at, segment in enumerate(self._segments):
            for text in written:
                for number in segment.named.get(plain(text), ()) if plain(text) else ():
                    component = segment.components[number]
                    whole = text == wanted
                    exact = text in (component.type, component.display_name) and (whole or len(humps(text)) > 1)
                    if exact or (whole and fold(text) == fold(component.type)):
                        found[at, number] = _NAMED_EXACTLY
                    elif whole:
                        found.setdefault((at, number), _NAMED)
            for number, how in segment.phrases.get(phrase_key(query_words), {}).items():
                if how is PhraseUse.NAME:
                    found.setdefault((at, number), _NAMED / 10)
        return found

    def _ranked(
        self, scores: dict[Place, float], by_phrase: dict[Place, bool], named: dict[Place, float], *, legacy: bool
    ) -> dict[Place, float]:
        """Return the final scores: named components first; legacy ones only if named, and after their replacements."""
        ranked: dict[Place, float] = {}
        for place, score in scores.items():
            if legacy or not self._is_hidden(place):
                ranked[place] = score + named.get(place, 0.0)
        best = max(ranked.values(), default=0.0)
        for place in {*by_phrase, *named} - ranked.keys():
            score, by_name = scores.get(place, NAME), named.get(place, 0.0)
            if by_name == _NAMED_EXACTLY:
                ranked[place] = score + max(by_name, best)
            elif by_phrase.get(place) or by_name:
                replaced = bool(best) and self._is_replaced(place)
                ranked[place] = min(score, best * _BELOW_CURRENT) if replaced and not by_name else score
                if replaced and by_name:
                    ranked[place] = best * _BELOW_CURRENT
        return ranked

    def _is_replaced(self, place: Place) -> bool:
        """Say whether a current component replaces this legacy one."""
        raw = self._component(place).raw
        names = {name.rpartition(".")[2] for name in texts(raw.get("replacement"))}
        return not names.isdisjoint(self._current)


_WEAK_STEMS = frozenset(map(stem, WEAK_WORDS))
