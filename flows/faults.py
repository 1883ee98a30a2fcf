"""A fault: what is wrong with a flow or a spec, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from flows.search.tokenizer import plain

if TYPE_CHECKING:
    from flows.json_values import JsonObject

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that is wrong.

    `error` means that the engine would refuse or ignore the request, or fail; everything else is a `warning`.
    `node` is the id that the user sees (an id in a spec, or a node id on a canvas); `line` counts from 1.
    """

    code: str
    message: str
    fix: str
    severity: Severity = "error"
    node: str | None = None
    port: str | None = None
    field: str | None = None
    line: int | None = None

    @property
    def is_error(self) -> bool:
        """Whether this fault stops a flow from being built or run as asked."""
        return self.severity == "error"

    def to_json(self) -> JsonObject:
        """Return the fault as a JSON object with every key present."""
        order = ("code", "severity", "node", "port", "field", "line", "message", "fix")
        return {name: getattr(self, name) for name in order}


def nearest(name: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """Return up to `limit` of the candidates most similar to `name`, best first; case, spaces and `_` are ignored."""
    from rapidfuzz import process  # here, because most flows have no fault
    from rapidfuzz.distance import Indel

    known: dict[str, str] = {}
    for candidate in candidates:
        known.setdefault(plain(candidate), candidate)
    wanted = plain(name)
    scorer = Indel.normalized_similarity
    found = [key for key, _, _ in process.extract(wanted, list(known), scorer=scorer, limit=limit, score_cutoff=0.55)]
    if wanted and len(found) < limit:
        inside = [key for key in known if key not in found and (wanted in key or (len(key) > 2 and key in wanted))]
        inside.sort(key=len)
        found += inside[: limit - len(found)]
    return [known[key] for key in found]


def suggest(names: Sequence[str]) -> str:
    """Return `Did you mean 'A' or 'B'?`, or an empty string without names."""
    return f"Did you mean {' or '.join(map(repr, names))}?" if names else ""


def did_you_mean(name: str, candidates: Iterable[str], *, otherwise: str = "it has") -> str:
    """Return advice with the nearest valid names, or else all of them (up to twelve)."""
    names = list(candidates)
    close = nearest(name, names)
    if close:
        return suggest(close)
    if not names:
        return f"{otherwise[:1].upper()}{otherwise[1:]} none."
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"{otherwise[:1].upper()}{otherwise[1:]}: {shown}."


def display_name_hint(name: str, members: Iterable[tuple[str, str]]) -> str:
    """Return advice for someone who wrote a display name instead of a name, or an empty string.

    Args:
        name: what was written.
        members: the names with their display names.
    """
    found = [known for known, shown in members if shown and known != name and plain(shown) == plain(name)]
    return f"{name!r} is a display name: write {' or '.join(map(repr, found[:3]))}." if found else ""
