"""What no component does: requests that the catalogue cannot meet, from a table, so that a search says so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import yaml

from flows.component_type import ComponentType, Match
from flows.json_values import as_list, as_object, as_text
from flows.search.tokenizer import stem, words

LEAST = 1.4
"""The score from which on a component has to do with a query."""

SHARE = 0.25
"""The share of the best score that others must reach."""

USERS = "your_components"
"""The category of the components that a user has written."""

_NAMED = 20.0
"""A best score beyond this comes from a name, and says nothing about the others."""


@dataclass(frozen=True)
class Limit:
    """Something that no component does.

    Attributes:
        words: matches requests for it.
        unless: matches a component that does it after all.
        says: what to tell, and what to do instead.
    """

    words: re.Pattern[str]
    unless: re.Pattern[str]
    says: str


@cache
def _limits() -> tuple[Limit, ...]:
    table = yaml.safe_load((files(__package__ or __name__) / "limits.yaml").read_text(encoding="utf-8"))
    rows = [as_object(row) for row in as_list(table)]
    return tuple(
        Limit(
            re.compile(as_text(row["words"]), re.IGNORECASE),
            re.compile(as_text(row["unless"]), re.IGNORECASE),
            as_text(row["says"]),
        )
        for row in rows
    )


def limits_of(request: str, components: Iterable[ComponentType]) -> list[str]:
    """Return what a request asks for that no component does, each as a sentence or two.

    Args:
        request: the query or message, in English.
        components: the component types that there are; one that does it after all takes the limit away.
    """
    return [limit.says for limit in limits_reached(request, components)]


def limits_reached(request: str, components: Iterable[ComponentType]) -> list[Limit]:
    """Return the limits that a request reaches, as `limits_of` says them."""
    found = [limit for limit in _limits() if limit.words.search(request)]
    known = [f"{one.type} {one.display_name} {one.description}" for one in components] if found else []
    return [limit for limit in found if not any(limit.unless.search(text) for text in known)]


def relevant(matches: list[Match], query: str) -> list[Match]:
    """Return the matches that have to do with a query: above the least score, and not far behind the best.

    A component whose name has a word of the query stays, because very common words score little; so does one of the
    user's, whose description may be short.

    Args:
        matches: the matches, best first.
        query: the query.
    """
    least = max(LEAST, SHARE * min(matches[0].score, _NAMED)) if matches else 0.0
    wanted = {stem(word) for word in words(query)}
    return [
        match
        for match in matches
        if match.score >= least
        or match.category == USERS
        or not wanted.isdisjoint(_stems(f"{match.type} {match.display_name}"))
    ]


@lru_cache(maxsize=4096)
def _stems(name: str) -> frozenset[str]:
    """The stems of a component's names, which each turn's searches find again."""
    return frozenset(map(stem, words(name)))
