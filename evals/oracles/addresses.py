"""Addresses in a flow that nobody named."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from evals.case import Case
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.json_values import Json, JsonObject

SCHEMES: Final = ("http", "https", "ws", "wss", "ftp")
_ADDRESS: Final = re.compile(  # begins with what is rare, which is found without looking at each character
    rf"://(?:{'|'.join(f'(?<={scheme}://)' for scheme in SCHEMES)})([^\s/?#\"'`{{}}\\<>()\[\],;]+)", re.IGNORECASE
)


def unnamed_addresses(case: Case) -> list[str]:
    """The hosts that only the resulting flow names: not the user, the canvas, the user's files and components, a
    reference flow, or the component types themselves; sorted.

    The whole document counts: values, names, descriptions, documentation, notes, and the flow's own details.
    """
    scenario = case.scenario
    named = [*scenario.prompts, *scenario.files.values(), *scenario.files, *scenario.components]
    known = {host for text in named for host in _hosts(text)}
    for flow in (case.before, *case.target_flows):
        known |= _in_flow(flow)
    found = set(_in_flow(case.after) - known)
    if not found:
        return []
    for node in case.after.components:
        found -= _of_type(case.catalogue, node.type)
    return sorted(found)


@lru_cache(maxsize=512)
def _of_type(catalogue: Catalogue, kind: str) -> frozenset[str]:
    component = catalogue.get(kind)
    return frozenset() if component is None else frozenset(_in_json(component.definition))


@lru_cache(maxsize=256)
def _in_flow(flow: Flow) -> frozenset[str]:
    return frozenset(_in_json(flow.raw))


def _in_json(value: Json | JsonObject) -> set[str]:
    """The hosts in all texts of a JSON value."""
    hosts: set[str] = set()
    waiting: list[Json] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if "://" in one:
                hosts |= _hosts(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return hosts


def _hosts(text: str) -> set[str]:
    return {host.casefold() for host in _ADDRESS.findall(text)}
