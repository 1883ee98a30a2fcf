"""Addresses in a flow that nobody named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from evals.case import Case
from flows.catalogue import Catalogue
from flows.json_values import Json, JsonObject

_ADDRESS: Final = re.compile(r"(?:https?|wss?|ftp)://([^\s/?#\"'`{}\\<>()\[\],;]+)", re.IGNORECASE)


def unnamed_addresses(case: Case) -> list[str]:
    """The hosts that only the resulting flow names: not the user, the canvas, the user's files and components, a
    reference flow, or the component types themselves; sorted.

    The whole document counts: values, names, descriptions, documentation, notes, and the flow's own details.
    """
    scenario = case.scenario
    named = [*scenario.prompts, *scenario.files.values(), *scenario.files, *scenario.components]
    known = {host for text in named for host in _hosts(text)}
    for flow in (case.before, *case.target_flows):
        known |= _in_json(flow.raw)
    found = _in_json(case.after.raw) - known
    if not found:
        return []
    for node in case.after.components:
        found -= _of_type(case.catalogue, node.type)
    return sorted(found)


@lru_cache(maxsize=512)
def _of_type(catalogue: Catalogue, kind: str) -> frozenset[str]:
    component = catalogue.get(kind)
    return frozenset() if component is None else frozenset(_in_json(component.definition))


def _in_json(value: Json | JsonObject) -> set[str]:
    return {host for text in _texts(value) if "://" in text for host in _hosts(text)}


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)


def _hosts(text: str) -> set[str]:
    return {host.casefold() for host in _ADDRESS.findall(text)}
