"""Starter flows as spec texts: each one builds as it is and says what it needs to run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, cached_property

from flows.faults import did_you_mean
from flows.json_values import JsonObject
from flows.search.synonyms import SMALL_WORDS
from flows.search.tokenizer import plain, stem, words

__all__ = ["Template", "UnknownTemplate", "fitting", "template", "templates"]

_ENDING = ".txt"
_OUTSIDE = frozenset({"model", "embeddings", "network", "file"})
_RARE = 2
"""A keyword of at most so many templates says which one is meant."""
_HEADER = re.compile(r"(?m)^(?:# )?(?P<key>name|description|tags|needs): (?P<value>.+)$")


class UnknownTemplate(KeyError):
    """No template has this name; `fix` suggests similar ones, or lists all."""

    def __init__(self, name: str, fix: str) -> None:
        super().__init__(name)
        self.name = name
        self.message = f"There is no template {name!r}."
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message} {self.fix}"


@dataclass(frozen=True, kw_only=True)
class Template:
    """A starter flow.

    Attributes:
        name: its identifier, such as `prompt-chain`.
        title: the flow's name.
        description: one sentence.
        tags: words to search for.
        needs: what a run needs besides an input: `model`, `embeddings`, `network`, `file`, or packages with further
            component types; empty for most.
        spec: the spec text.
    """

    name: str
    title: str
    description: str
    tags: tuple[str, ...]
    needs: tuple[str, ...]
    spec: str

    @property
    def packages(self) -> tuple[str, ...]:
        """Packages with its component types, to be installed with `wirewright runner install --with`."""
        return tuple(need for need in self.needs if need not in _OUTSIDE)

    @cached_property
    def nodes(self) -> tuple[tuple[str, str], ...]:
        """Its components, by the ids and types that its spec gives them."""
        from flows.spec.parse import parse

        return tuple((node.id, node.type) for node in parse(self.spec)[0].nodes)

    def to_json(self) -> JsonObject:
        """Return the template as it is listed, without its spec."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "tags": [*self.tags],
            "needs": [*self.needs],
        }


@cache
def templates() -> tuple[Template, ...]:
    """Return every template, sorted by name; the texts are read once, on first use."""
    from importlib.resources import files

    texts = [entry for entry in (files(__name__) / "specs").iterdir() if entry.name.endswith(_ENDING)]
    found = [_read(entry.name.removesuffix(_ENDING), entry.read_text(encoding="utf-8")) for entry in texts]
    return tuple(sorted(found, key=lambda one: one.name))


def fitting(request: str, limit: int = 3, without: Collection[str] = ()) -> list[Template]:
    """Return the templates that a request is about, best first; empty when it is about none.

    Args:
        request: what is to be built, in English.
        limit: how many at most.
        without: needs that a run cannot have here; templates with them are left out.
    """
    wanted = {stem(word) for word in words(request)} - SMALL_WORDS
    known, counts = _keywords_of_all(), _counts_of_all()
    scores = {name: sum(2 if counts[word] <= _RARE else 1 for word in wanted & found) for name, found in known.items()}
    possible = [one for one in templates() if scores[one.name] > 1 and not set(without).intersection(one.needs)]
    best = sorted(possible, key=lambda one: (-scores[one.name], one.name))
    return best[:limit]


@cache
def _keywords_of_all() -> dict[str, frozenset[str]]:
    return {one.name: _keywords(one) for one in templates()}


@cache
def _counts_of_all() -> Counter[str]:
    """In how many templates each keyword is."""
    return Counter(word for found in _keywords_of_all().values() for word in found)


def _keywords(one: Template) -> frozenset[str]:
    texts = (one.name.replace("-", " "), one.title, *(tag for tag in one.tags if tag not in _OUTSIDE))
    return frozenset(stem(word) for text in texts for word in words(text)) - SMALL_WORDS


def template(name: str) -> Template:
    """Return the template of this name or title; case, spaces and dashes are ignored.

    Raises:
        UnknownTemplate: there is none; the error suggests similar ones.
    """
    wanted = plain(name)
    for one in templates():
        if wanted in (plain(one.name), plain(one.title)):
            return one
    raise UnknownTemplate(name, did_you_mean(name, [one.name for one in templates()], otherwise="the templates are"))


def _read(name: str, spec: str) -> Template:
    header = {match["key"]: match["value"].strip() for match in _HEADER.finditer(spec.partition("nodes:")[0])}
    return Template(
        name=name,
        title=header["name"],
        description=header["description"],
        tags=_words(header.get("tags", "")),
        needs=_words(header.get("needs", "")),
        spec=spec,
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
