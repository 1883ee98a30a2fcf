"""Which types of bundles that are not installed may be wanted for a query."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache

from flows.catalogue import Catalogue
from flows.component_type import Match
from flows.search.limits import LEAST, limits_reached, relevant
from flows.search.synonyms import SMALL_WORDS
from flows.search.tokenizer import plain, words


def wanted_types(
    query: str, types: Catalogue, bundle_name: Callable[[str], str], catalogue: Catalogue, matches: Collection[Match]
) -> list[Match]:
    """Return the types that could be installed for a query, best first.

    Most queries are met by what is installed. Types are added when the query names their bundle or has a word of their
    display name that no installed type knows, when they do what no installed type does, or when nothing matches.

    Args:
        query: the query.
        types: the types of the bundles.
        bundle_name: the name of a type's bundle, or an empty text.
        catalogue: the installed types.
        matches: those of them that have to do with the query.
    """
    does = [limit.unless for limit in limits_reached(query, catalogue)]
    if not matches and not does:
        return [match for match in relevant(types.search(query), query) if _fits(match, catalogue)]
    unknown = {word for word in words(query) if word not in SMALL_WORDS and not catalogue.mentions(word)}
    named = _bundles_in(query, catalogue, _bundle_names(types, bundle_name))
    if not does and not named and unknown.isdisjoint(_display_words(types)):
        return []
    found = [match for match in types.search(query, len(types), legacy=bool(named)) if match.type not in catalogue]
    by_name = [
        match
        for match in found
        if bundle_name(match.type) in named or not unknown.isdisjoint(words(match.display_name))
    ]
    by_deed = [
        match
        for match in relevant(found, query)
        if match.score >= LEAST and any(pattern.search(f"{match.display_name} {match.description}") for pattern in does)
    ]
    return list(dict.fromkeys([*by_name, *by_deed]))


def _bundles_in(query: str, catalogue: Catalogue, names: frozenset[tuple[str, str]]) -> set[str]:
    """The bundles that a query names; a word that is in the name of an installed type names none."""
    said = words(query)
    joined = {"".join(said[place : place + size]) for size in (1, 2, 3) for place in range(len(said))}
    wanted = joined - _name_words(catalogue)
    return {name for name, written in names if written in wanted}


@lru_cache(maxsize=2)
def _bundle_names(types: Catalogue, bundle_name: Callable[[str], str]) -> frozenset[tuple[str, str]]:
    """The names of the bundles, each also as a query may write it."""
    return frozenset((name, plain(name)) for name in {bundle_name(one.type) for one in types})


def _fits(match: Match, catalogue: Catalogue) -> bool:
    return match.score >= LEAST and match.type not in catalogue


@lru_cache(maxsize=4)
def _name_words(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(word for one in catalogue for word in words(f"{one.type} {one.display_name}"))


@lru_cache(maxsize=2)
def _display_words(types: Catalogue) -> frozenset[str]:
    return frozenset[str]().union(*(words(one.display_name) for one in types))
