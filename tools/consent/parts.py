"""Splitting one call that changes several things: what needs no answer is done, the rest is asked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flows.document import Flow
from flows.edits import EditError
from flows.spec.fragment import Fragment, parse_fragment, with_lines
from flows.spec.patch import Patch

LINE_LIMIT = 120
"""How many characters of a line that was carried out are told."""

Apply: TypeAlias = Callable[[Flow, str, dict[str, str]], Patch]


@dataclass(frozen=True)
class Parts:
    """A fragment in two parts.

    Attributes:
        done: the part that needs no answer.
        lines: its lines, for people.
        rest: the text of the other part.
        kept: where the entries of the first part begin.
    """

    done: Patch
    lines: list[str]
    rest: str
    kept: frozenset[int]


def split(text: str, before: Flow, apply: Apply, asks: Callable[[Patch], bool]) -> Parts | None:
    """Split a fragment that asks something; None when all of it has to wait, because no part stands alone.

    Args:
        text: the fragment.
        before: the flow that it changes.
        apply: applies a fragment to a flow, knowing further components by these names; may raise `EditError`.
        asks: whether the user would have to be asked about a part.
    """
    fragment, _ = parse_fragment(text)
    groups = list(_groups(fragment, before))
    names = {frozenset((name.line,)) for name in fragment.names}
    parts = _split(text, before, apply, asks, groups, groups)
    if parts is None and names:  # what waits may call a component by the name that it had
        parts = _split(text, before, apply, asks, groups, [group for group in groups if group not in names])
    return parts


def _split(
    text: str,
    before: Flow,
    apply: Apply,
    asks: Callable[[Patch], bool],
    groups: Sequence[frozenset[int]],
    first: Sequence[frozenset[int]],
) -> Parts | None:
    """Split a fragment; only groups of `first` may be done at once."""
    fragment, _ = parse_fragment(text)
    every = {line for group in groups for line in group}
    kept, found = frozenset[int](), None
    for group in first:
        tried = kept | group
        try:
            part = apply(before, with_lines(text, tried, of=every), {})
        except EditError:
            continue
        if not asks(part):
            kept, found = tried, part
    rest = with_lines(text, every - kept, of=every)
    if found is None or not found.edit.actions or not _is_partition(text, fragment, kept, every):
        return None
    try:
        apply(found.edit.flow, rest, dict(found.ids))
    except EditError:
        return None
    rows = with_lines(text, every, of=every).split("\n")
    return Parts(found, [rows[line - 1].strip()[:LINE_LIMIT] for line in sorted(kept)], rest, kept)


def carried_out(
    text: str, before: Flow, apply: Apply, asks: Callable[[Patch], bool]
) -> tuple[frozenset[int], Patch | None]:
    """What a call does at once, and its lines: all, those that need no answer, or none.

    Args:
        text: the fragment.
        before: the flow that it changes.
        apply: see `split`.
        asks: whether the user would have to be asked about a part.
    """
    whole = apply(before, text, {})
    if not asks(whole):
        return frozenset(line for group in _groups(parse_fragment(text)[0], before) for line in group), whole
    parts = split(text, before, apply, asks)
    return (frozenset(), None) if parts is None else (parts.kept, parts.done)


def _groups(fragment: Fragment, before: Flow) -> Iterator[frozenset[int]]:
    """The entries that belong together, by their lines: a component with its values; a value; a connection.

    What adds comes before what removes, so that the largest harmless part is found first.
    """
    spec = fragment.spec
    named = {node.id for node in spec.nodes}
    nodes = sorted(spec.nodes, key=lambda node: before.node(node.id) is not None)
    for node in nodes:
        yield frozenset((node.line, *(value.line for value in spec.values if value.node == node.id)))
    yield from (frozenset((value.line,)) for value in spec.values if value.node not in named)
    yield from (frozenset((name.line,)) for name in fragment.names)
    yield from (frozenset((cut.line,)) for cut in fragment.cut)
    yield from (frozenset((gone.line,)) for gone in fragment.removed)
    yield from (frozenset((edge.line,)) for edge in spec.edges)


def _is_partition(text: str, fragment: Fragment, kept: frozenset[int], every: set[int]) -> bool:
    """Whether the two parts hold every entry once, unchanged."""
    parts = [parse_fragment(with_lines(text, lines, of=every))[0] for lines in (kept, every - kept)]
    both = [entry for part in parts for entry in _entries(part)]
    return sorted(both) == sorted(_entries(fragment))


def _entries(fragment: Fragment) -> list[str]:
    spec = fragment.spec
    return [
        repr(one)
        for many in (spec.nodes, spec.edges, spec.values, fragment.names, fragment.removed, fragment.cut)
        for one in many
    ]
