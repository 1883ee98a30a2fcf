"""Fragments: the lines of a spec that change a flow, with two more sections, `names` and `remove`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection
from dataclasses import dataclass, replace

from flows.faults import Fault
from flows.spec.parse import Spec, SpecEdge, parse

_SECTION = re.compile(r"(\w+)\s*:\s*(?:#.*)?")
_SECTIONS = frozenset({"nodes", "edges", "config", "names", "remove"})
_NAME = re.compile(r"(?P<id>[^:]+):\s*(?P<name>\S.*)")
_ARROW = re.compile(r"\s*(?:-+>|=+>|→)\s*")


@dataclass(frozen=True)
class SpecName:
    """A line of `names`: the display name of a component."""

    node: str
    name: str
    line: int


@dataclass(frozen=True)
class SpecRemoval:
    """A line of `remove` that names a component."""

    node: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """A parsed fragment, not yet checked against a flow.

    Attributes:
        spec: what is added or set.
        names: display names.
        removed: components that go.
        cut: connections that go; a port that is None stands for any.
    """

    spec: Spec
    names: tuple[SpecName, ...] = ()
    removed: tuple[SpecRemoval, ...] = ()
    cut: tuple[SpecEdge, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        spec = self.spec
        parts = (spec.nodes, spec.edges, spec.values, self.names, self.removed, self.cut, spec.name, spec.description)
        return not any(parts)


def parse_fragment(text: str) -> tuple[Fragment, tuple[Fault, ...]]:
    """Parse the text of a fragment.

    Args:
        text: lines under `nodes:`, `edges:`, `config:`, `names:` and `remove:`, in any order; each may be left out.

    Returns:
        What could be parsed, and every fault of the text with its line, counted from 1.
    """
    rest: list[str] = []
    names: list[SpecName] = []
    removed: list[SpecRemoval] = []
    edges: list[tuple[int, str]] = []
    faults: list[Fault] = []
    section = ""
    for number, raw in enumerate(textwrap.dedent(text.replace("\r\n", "\n").removeprefix("\ufeff")).split("\n"), 1):
        heading = _SECTION.fullmatch(raw.rstrip())
        if heading is not None:
            section = heading[1].lower()
        if section not in {"names", "remove"}:
            rest.append(raw)
            continue
        rest.append("edges:" if heading else "")  # ends the section before, and keeps the line numbers
        line = raw.strip().removeprefix("- ")
        if heading or not line or line.startswith(("#", "```")):
            continue
        line = re.sub(r"\s+#.*$", "", line)
        if section == "names":
            name = _NAME.fullmatch(line)
            if name is None:
                faults.append(_fault("bad_name", line, "Write `ID: Display name`.", number))
            else:
                names.append(SpecName(name["id"].strip(), name["name"].strip().strip("\"'"), number))
        elif _ARROW.search(line):
            edges.append((number, line))
        else:
            removed.append(SpecRemoval(line, number))
    spec, found = parse("\n".join(rest))
    cut, bad = _edges(edges)
    faults += [fault for fault in (*found, *bad) if fault.code != "empty_spec"]
    fragment = Fragment(spec=spec, names=tuple(names), removed=tuple(removed), cut=cut)
    if fragment.is_empty and not faults:
        fix = "Write lines under `nodes:`, `edges:`, `config:`, `names:` or `remove:`."
        faults.append(Fault(code="empty_fragment", message="There is nothing to change.", fix=fix))
    return fragment, tuple(faults)


def with_lines(text: str, lines: Collection[int], *, of: Collection[int]) -> str:
    """The text of a fragment with only some of its entries; the others become blank lines, so that numbers stay.

    Args:
        text: the fragment.
        lines: where the entries begin that stay.
        of: where all entries begin.
    """
    rows = textwrap.dedent(text.replace("\r\n", "\n").removeprefix("\ufeff")).split("\n")
    kept, stays = list[str](), True
    for number, row in enumerate(rows, 1):
        heading = _SECTION.fullmatch(row.rstrip())
        if number in of:
            stays = number in lines
        elif heading is not None and heading[1].lower() in _SECTIONS:
            stays = True
        kept.append(row if stays else "")
    return "\n".join(kept)


def _edges(lines: list[tuple[int, str]]) -> tuple[tuple[SpecEdge, ...], list[Fault]]:
    """The connections in these lines, with their own line numbers."""
    made: list[SpecEdge] = []
    faults: list[Fault] = []
    for number, line in lines:
        spec, found = parse(f"edges:\n{line}")
        made += [replace(edge, line=number) for edge in spec.edges]
        faults += [replace(fault, line=number) for fault in found if fault.code != "empty_spec"]
    return tuple(made), faults


def _fault(code: str, line: str, fix: str, number: int) -> Fault:
    return Fault(code=code, message=f"This line is not understood: {line[:80]!r}.", fix=fix, line=number)
