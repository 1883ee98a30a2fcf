"""The expectations of a scenario that do not hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from evals.case import Case
from evals.oracles.facts import facts
from evals.oracles.tool_calls import calls
from evals.scenarios.flows import spec_ids


def unmet_expectations(case: Case) -> Iterator[str]:
    """A sentence for each expectation of the flow, the tools and the files that does not hold."""
    expect = case.scenario.expect
    types = {node.id: node.type for node in case.result.nodes}
    there = Counter(node.type for node in case.result.nodes)
    for kind, times in Counter(expect.types).items():
        if there[kind] < times:
            yield f"there should be {times} {kind}, there are {there[kind]}"
    for kinds in expect.one_of:
        if not any(there[kind] for kind in kinds):
            yield f"there should be one of {', '.join(kinds)}"
    for kind in expect.absent:
        if there[kind]:
            yield f"there should be no {kind}"
    edges = {f"{types[edge.source]}.{edge.output} -> {types[edge.target]}.{edge.input}" for edge in case.result.edges}
    yield from (f"{edge} is missing" for edge in expect.edges if edge not in edges)
    for place, rule in expect.fields.items():
        if not any(rule.met_by(value) for value in _values(case, place)):
            yield f"{place} should be: {rule}"
    yield from _not_kept(case)
    yield from _unused(case)
    yield from _unwritten(case)


def _values(case: Case, place: str) -> Iterator[str]:
    kind, field = place.rsplit(".", 1)
    for node in case.after.nodes:
        if node.type == kind and node.field(field) is not None:
            value = node.value(field)
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unused(case: Case) -> Iterator[str]:
    """Tools that were not used as expected; not checked if the player does not show its calls."""
    made = calls(case.attempt)
    for use in case.scenario.expect.tools if made is not None else ():
        candidates = [call.arguments for call in made or () if call.tool == use.tool and call.accepted]
        if not any(use.arguments.items() <= arguments.items() for arguments in candidates):
            yield f"{use} should have been called"


def _unwritten(case: Case) -> Iterator[str]:
    """Files that are not as expected; files that a player reports having written elsewhere cannot be checked."""
    reported = {change.path for turn in case.attempt.turns for change in turn.files if change.change != "deleted"}
    for path, rule in case.scenario.expect.files.items():
        content = case.attempt.files.get(path)
        if content is None and path in reported and calls(case.attempt) is None:
            continue
        if not rule.met_by(content):
            yield f"the file {path} should be: {rule}"


def _not_kept(case: Case) -> Iterator[str]:
    ids = spec_ids(case.scenario.canvas or "", case.catalogue) if case.scenario.expect.kept else {}
    for name in case.scenario.expect.kept:
        wanted = {fact for fact in facts(case.start) if fact.nodes == (ids.get(name, name),)}
        if not any(wanted <= comparison.result_facts for comparison in case.comparisons):
            yield f"{name} should have stayed as it was"
