"""Addresses in a flow that nobody named."""

from __future__ import annotations

import json
import re
from typing import Final

from evals.case import Case
from flows.document import Flow
from flows.json_values import as_object

_ADDRESS: Final = re.compile(r"https?://([^\s/?#\"'{}\\<>]+)", re.IGNORECASE)


def unnamed_addresses(case: Case) -> list[str]:
    """The hosts that only the resulting flow names: not the user, the canvas, the user's files and components, a
    reference flow, or the component's own defaults; sorted."""
    scenario = case.scenario
    named = [*scenario.prompts, *scenario.files.values(), *scenario.files, *scenario.components]
    known = {host for text in named for host in _hosts(text)}
    for flow in (case.before, *case.target_flows):
        known |= _in_values(case, flow)
    return sorted(_in_values(case, case.after) - known)


def _in_values(case: Case, flow: Flow) -> set[str]:
    found: set[str] = set()
    for node in flow.components:
        kind = case.catalogue.get(node.type)
        for name, field in node.template.items():
            value = field.get("value")
            if name == "code" or not value:
                continue
            if kind is None or value != as_object(kind.template.get(name)).get("value"):
                found |= _hosts(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return found


def _hosts(text: str) -> set[str]:
    return {host.casefold() for host in _ADDRESS.findall(text)}
