"""Reading what `build_flow` is given: a whole spec, a template with changes, or a correction of the last spec."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from flows.catalogue import Catalogue
from flows.faults import Fault
from flows.spec.build import BuildResult, build_spec
from flows.spec.correction import corrected
from flows.spec.fragment import parse_fragment
from flows.spec.names import with_names
from flows.spec.parse import Spec, parse
from flows.templates import Template, UnknownTemplate, template

Draft = tuple[Spec, frozenset[int]]
"""A spec, and its lines that have errors."""

_FIRST = re.compile(
    r"\s*(?:(?P<correction>correction)\s*:?|template\s*:\s*(?P<template>[^\n]+?))[ \t]*(?:\n|$)", re.IGNORECASE
)


_TEMPLATE = re.compile(r"^template[ \t]*:[ \t]*\S[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_BODY = re.compile(r"^(?:nodes|edges|config|names|remove)[ \t]*:", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class SpecReading:
    """What a call of `build_flow` gives.

    Attributes:
        result: the flow, or its faults.
        draft: the spec as a whole, for a correction.
        template: the template that it begins with.
        whole: whether every connection was written with both ports.
    """

    result: BuildResult
    draft: Draft
    template: Template | None = None
    whole: bool = True


def read_spec(text: str, catalogue: Catalogue, draft: Draft | None = None, *, may_repeat: bool = False) -> SpecReading:
    """Build what a call of `build_flow` gives.

    A first line `correction` makes it a correction of the last spec, as does leaving out all nodes after a spec that
    failed; a line `template: NAME` before the nodes makes it a change of that template. Components get the names that
    their ids are.

    Args:
        text: the spec.
        catalogue: the component types.
        draft: the last spec, if there is one.
        may_repeat: whether a correction may leave the spec as it is, because other inputs are tried with it.
    """
    text = _template_first(text)
    first = _FIRST.match(text)
    rest = text[first.end() :] if first is not None else text
    if first is not None and first["template"]:
        try:
            chosen = template(first["template"])
        except UnknownTemplate as unknown:
            fault = Fault(code="unknown_template", message=unknown.message, fix=unknown.fix, line=1)
            return _failed(fault)
        base: Draft = (parse(chosen.spec)[0], frozenset())
        return replace(_changed(base, rest, catalogue, empty=True), template=chosen)
    if first is not None:
        if draft is None:
            fix = "Give the whole spec, or change the flow with edit_flow."
            return _failed(Fault(code="no_draft", message="There is no spec to correct.", fix=fix, line=1))
        return _changed(draft, rest, catalogue, empty=may_repeat)
    spec, faults = parse(text)
    if draft is not None and not spec.nodes and any(fault.code == "empty_spec" for fault in faults):
        return _changed(draft, text, catalogue)
    return _built(spec, faults, catalogue)


def _template_first(text: str) -> str:
    """A spec whose line `template: NAME` comes before its name and its description."""
    body = _BODY.search(text)
    found = _TEMPLATE.search(text, 0, len(text) if body is None else body.start())
    return text if found is None else f"{found.group().rstrip()}\n{text[: found.start()]}{text[found.end() :]}"


def _changed(base: Draft, text: str, catalogue: Catalogue, *, empty: bool = False) -> SpecReading:
    """A spec with the lines of a fragment in it; its faults name no lines, since no text has all of them."""
    fragment, faults = parse_fragment(text)
    if empty:
        faults = tuple(fault for fault in faults if fault.code != "empty_fragment")
    spec, more = corrected(base[0], fragment, base[1])
    found = _built(spec, (*faults, *more), catalogue)
    unplaced = tuple(replace(fault, line=None) for fault in found.result.faults)
    return replace(found, result=replace(found.result, faults=unplaced))


def _built(spec: Spec, faults: tuple[Fault, ...], catalogue: Catalogue) -> SpecReading:
    result = build_spec(spec, catalogue, faults)
    if result.flow is not None:
        result = replace(result, flow=with_names(result.flow, result.ids, catalogue))
    lines = frozenset(fault.line for fault in result.faults if fault.is_error and fault.line is not None)
    whole = bool(spec.edges) and all(edge.source_port and edge.target_port for edge in spec.edges)
    return SpecReading(result=result, draft=(spec, lines), whole=whole)


def _failed(fault: Fault) -> SpecReading:
    return SpecReading(result=BuildResult(flow=None, faults=(fault,), ids={}), draft=(Spec(), frozenset()))


def in_spec_words(text: str, ids: Mapping[str, str]) -> str:
    """Text about a built flow with the ids of the spec in place of node ids."""
    for spec_id, node_id in ids.items():
        text = text.replace(node_id, spec_id)
    return text
