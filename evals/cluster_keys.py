"""What a scenario shares with others of its cluster, hashed; `analysis/clusters.py` says what a cluster is."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evals.scenario import Scenario

_QUOTED = re.compile(r"""(?<!\w)'[^'\n]*'(?!\w)|"[^"\n]*"|«[^»\n]*»|„[^“”\n]*[“”]|“[^”\n]*”|‘[^’\n]*’|「[^」\n]*」""")
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"name:\s")


def cluster_keys(scenario: Scenario) -> tuple[str, ...]:
    """Hashes of what a scenario may share with others: its canvas, its wording and its reference, if it has them.

    A reference that is the canvas itself is left out, and so is a wording without words outside quotation marks.
    """
    canvas, reference = _flow_text(scenario.canvas), _flow_text(scenario.reference)
    wording = [" ".join(_WORD.findall(_QUOTED.sub(" ", say).casefold())) for say in scenario.prompts]
    shared = {
        "canvas": canvas,
        "wording": "\n".join(wording) if any(wording) else "",
        "reference": "" if reference == canvas else reference,
    }
    return tuple(_hashed(kind, text) for kind, text in shared.items() if text)


class Linked:
    """Names that are linked by keys that they share: disjoint sets."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._first: dict[str, str] = {}

    def add(self, name: str) -> None:
        """Take a name in, in a set of its own."""
        self._parents.setdefault(name, name)

    def link(self, name: str, key: str) -> None:
        """Join the set of a name with those of the names that were linked by the same key."""
        one, other = self._root(name), self._root(self._first.setdefault(key, name))
        self._parents[max(one, other)] = min(one, other)

    def names(self) -> dict[str, str]:
        """The first name of each name's set."""
        return {name: self._root(name) for name in self._parents}

    def _root(self, name: str) -> str:
        while self._parents[name] != name:
            self._parents[name] = self._parents[self._parents[name]]
            name = self._parents[name]
        return name


def canvas_key(scenario: Scenario) -> str | None:
    """What two scenarios have in common when they start from the same canvas; None for an empty one."""
    text = _flow_text(scenario.canvas)
    return _hashed("canvas", text) if text else None


def _hashed(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()[:12]


def _flow_text(text: str | None) -> str:
    lines = (line.rstrip() for line in (text or "").splitlines())
    return "\n".join(line for line in lines if line and not _NAME.match(line))
