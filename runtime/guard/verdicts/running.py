"""What the engine hands to a component while a flow runs, and how much of it a component may look at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from runtime.guard.violations import Rule

GRAPH = "lfx.running.graph()"
VERTEX = "lfx.running.vertex()"
_SETTINGS = "lfx.services.deps.get_settings_service()"

HANDED: Mapping[str, str] = MappingProxyType(
    {"graph": GRAPH, "_vertex": VERTEX, "get_vertex": VERTEX.removesuffix("()"), "vertex": VERTEX}
)
"""Attributes of a component object that lead to the run that it is part of, with the path each is followed by."""
SAME: Mapping[str, str] = MappingProxyType({f"{VERTEX}.graph": GRAPH, f"{VERTEX}._graph": GRAPH})
"""Other ways to the same."""

_OF_THE_RUN = (
    "session_id|flow_id|flow_name|user_id|run_id|source_flow_id|end_user_id|execution_principal|description|context|"
    "conditional_exclusion_sources|conditionally_excluded_vertices|exclude_branch_conditionally|is_cyclic|"
    "exclude_branches_conditionally|activate_state_vertices|mark_branch|request_pause|human_input_decisions|"
    "successor_map|predecessor_map|in_degree_map|parent_child_map"
)
_OF_SETTINGS = r"(?i).*(?:url|secret|passw|token|key|credential|dump|dict|json|variables_to_get|auth)"
_CLOSED: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        GRAPH: re.compile(rf"(?!(?:{_OF_THE_RUN})$)"),
        VERTEX: re.compile(r"(?i)(?:predecessors|successors|_?graph|get_value_from.*)$"),
        f"{_SETTINGS}.settings": re.compile(_OF_SETTINGS),
        _SETTINGS: re.compile(_OF_SETTINGS),
    }
)
"""The attributes of each part of the run that lead to other nodes, which hold their own values and keys."""


def kept_from(path: str) -> Rule | None:
    """The rule that looking at a part of the run breaks."""
    for root, closed in _CLOSED.items():
        if path.startswith(f"{root}.") and closed.match(re.split(r"[.(\[]", path[len(root) + 1 :], maxsplit=1)[0]):
            return "secrets"
    return None


def steps_into_run(path: str) -> bool:
    """Whether attributes written in a row lead from a component into other nodes of its run."""
    names = path.split(".")
    if "_vertex" in names:
        return kept_from(f"{VERTEX}.{path.partition('_vertex.')[2]}") is not None
    return "graph" in names and kept_from(f"{GRAPH}.{path.partition('graph.')[2]}") is not None


def is_shared(path: str) -> bool:
    """Whether the path names a part of the engine's services, which everything else in the run uses too."""
    return path.startswith("lfx.services.")
