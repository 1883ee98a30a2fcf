"""The index of a group of components: their words, weighted by where they occur."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from functools import cache

from flows.component_type import ComponentType
from flows.fields.values import option_names
from flows.json_values import as_list, as_object, as_text, texts
from flows.search.aliases import short_names
from flows.search.synonyms import SMALL_WORDS, paraphrases
from flows.search.tokenizer import plain, stem, words

NAME = 5.0
_PARAPHRASE, _KEYWORD, _DESCRIPTION, _CATEGORY, _FIELD, _OPTION, _PORT = 4.5, 2.0, 2.4, 1.0, 0.8, 0.6, 0.6
_SATURATION = 2.2
_LONGEST_PHRASE = 4
_OPTIONS = 40

Phrase = tuple[str, ...]
"""The stems of a name or phrase in alphabetical order, so that `read pdf` and `pdf reader` are equal."""


class PhraseUse(Flag):
    """How a phrase refers to a component: as its display name, as a paraphrase, or both."""

    NAME = auto()
    PARAPHRASE = auto()


class Segment:
    """The immutable index of components from one source.

    `postings` has for each stem the numbers of the components that contain it, with a weight from 0 to 1; `phrases`
    has for each phrase the components that it refers to.
    """

    def __init__(self, components: Iterable[ComponentType]) -> None:
        self.components: Sequence[ComponentType] = tuple(components)
        self.hidden = frozenset(number for number, component in enumerate(self.components) if component.legacy)
        self.postings: dict[str, dict[int, float]] = {}
        self.named: dict[str, list[int]] = defaultdict(list)
        self.phrases: dict[Phrase, dict[int, PhraseUse]] = {}
        stems = _StemCache()
        for number, component in enumerate(self.components):
            shorts = short_names(component)
            names = [
                name
                for name in (shorts if component.type.startswith("ext:") else (component.type,))
                if name in paraphrases()
            ]
            for name in dict.fromkeys(map(plain, (component.type, component.display_name, *shorts))):
                self.named[name].append(number)
            self.phrases.setdefault(phrase_key(words(component.display_name)), {})[number] = PhraseUse.NAME
            for name in names:
                said = _paraphrases_of(name)
                stems.words |= said.words
                for key in said.phrases:
                    held = self.phrases.setdefault(key, {})
                    held[number] = held.get(number, PhraseUse.PARAPHRASE) | PhraseUse.PARAPHRASE
            for word, weight in _weights(component, shorts, names, stems).items():
                self.postings.setdefault(word, {})[number] = weight / (weight + _SATURATION)
        self.words = frozenset(stems.words)


class _StemCache:
    """The stems of texts, each computed once, because components share most field names and types."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self._known: dict[str, frozenset[str]] = {}

    def of(self, text: str) -> frozenset[str]:
        found = self._known.get(text)
        if found is None:
            parts = words(text)
            self.words.update(parts)
            found = self._known[text] = frozenset(map(stem, parts))
        return found


def phrase_key(phrase: Iterable[str]) -> Phrase:
    """Return the key of a phrase, without stop words unless there are no others."""
    kept = list(phrase)
    return tuple(sorted({stem(word) for word in kept if word not in SMALL_WORDS} or {stem(word) for word in kept}))


def phrases_in(stems: list[str]) -> Iterator[Phrase]:
    """Yield every phrase in the words of a query: adjacent words, of which at most one may be skipped."""
    for start in range(len(stems)):
        yield (stems[start],)
        for size in range(2, _LONGEST_PHRASE + 2):
            span = stems[start : start + size]
            if len(span) < size:
                break
            if size <= _LONGEST_PHRASE:
                yield tuple(sorted(set(span)))
            for gap in range(1, size - 1):
                yield tuple(sorted({*span[:gap], *span[gap + 1 :]}))


@dataclass(frozen=True)
class _Paraphrases:
    """The words, phrase keys and weighted stems of the paraphrases of a component."""

    words: frozenset[str]
    phrases: tuple[Phrase, ...]
    weights: Mapping[str, float]


@cache
def _paraphrases_of(name: str) -> _Paraphrases:
    phrases = [words(phrase) for phrase in paraphrases()[name]]
    keys = tuple(key for key in map(phrase_key, phrases) if len(key) <= _LONGEST_PHRASE)
    times = Counter(word for phrase in phrases for word in set(map(stem, phrase)))
    weights = {word: _PARAPHRASE * (1 + math.log(count)) / 1.5 for word, count in times.items()}
    return _Paraphrases(frozenset[str]().union(*phrases), keys, weights)


def _weights(component: ComponentType, shorts: Iterable[str], named: list[str], stems: _StemCache) -> dict[str, float]:
    weights = dict(_paraphrases_of(named[0]).weights) if named else {}
    type_name = "" if component.type.startswith("ext:") else component.type
    for weight, sources in (
        (NAME, (type_name, component.display_name, *shorts)),
        (_DESCRIPTION, (component.description,)),
        (_CATEGORY, (component.category,)),
        (_KEYWORD, texts(as_object(component.raw.get("metadata")).get("keywords"))),
        *_field_words(component),
    ):
        held: set[str] = set()
        for text in sources:
            held |= stems.of(text)
        for word in held:
            weights[word] = weights.get(word, 0.0) + weight
    return weights


def _field_words(component: ComponentType) -> Iterator[tuple[float, list[str]]]:
    names: list[str] = []
    options: list[str] = []
    ports: list[str] = []
    for name, entry in component.template.items():
        if name != "code":
            names += (name, as_text(entry.get("display_name")))
            if entry.get("options"):
                options += option_names(entry)[:_OPTIONS]
            ports += texts(entry.get("input_types"))
    for output in map(as_object, as_list(component.raw.get("outputs"))):
        ports += (as_text(output.get("name")), as_text(output.get("display_name")), *texts(output.get("types")))
    yield _FIELD, names
    yield _OPTION, options
    yield _PORT, list(dict.fromkeys(ports))
