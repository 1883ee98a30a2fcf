"""Which of a scenario's expectations of the flow do not hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from evals.case import Case
from evals.expectation import ToolUse
from evals.oracles.facts import facts
from evals.oracles.tool_calls import Call, calls
from evals.scenarios.flows import spec_ids


def unmet_expectations(case: Case) -> Iterator[str]:
    """A sentence for every expectation of the flow, the tools and the files that does not hold."""
    expect = case.scenario.expect
    there = Counter(part.type for part in case.made.parts)
    for kind, times in Counter(expect.types).items():
        if there[kind] < times:
            yield f"there should be {times} {kind}, there are {there[kind]}"
    for kinds in expect.one_of:
        if not any(there[kind] for kind in kinds):
            yield f"there should be one of {', '.join(kinds)}"
    for kind in expect.absent:
        if there[kind]:
            yield f"there should be no {kind}"
    types = {part.id: part.type for part in case.made.parts}
    links = {f"{types[link.source]}.{link.output} -> {types[link.target]}.{link.input}" for link in case.made.links}
    yield from (f"{edge} is missing" for edge in expect.edges if edge not in links)
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
    """Tools that were not used as expected; not checked for a player that does not show its calls."""
    made = calls(case.attempt)
    for use in case.scenario.expect.tools if made is not None else ():
        if not any(call.tool == use.tool and call.taken and _as_asked(use, call) for call in made or ()):
            yield f"{use} should have been called"


def _as_asked(use: ToolUse, call: Call) -> bool:
    return all(name in call.arguments and call.arguments[name] == value for name, value in use.arguments.items())


def _unwritten(case: Case) -> Iterator[str]:
    """Files that are not as expected; those that a player reports having written elsewhere cannot be checked."""
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
        wanted = {fact for fact in facts(case.start) if fact.parts == (ids.get(name, name),)}
        if not any(wanted <= comparison.made_facts for comparison in case.comparisons):
            yield f"{name} should have stayed as it was"
