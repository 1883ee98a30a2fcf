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
    return tuple(hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()[:12] for kind, text in shared.items() if text)


def _flow_text(text: str | None) -> str:
    lines = (line.rstrip() for line in (text or "").splitlines())
    return "\n".join(line for line in lines if line and not _NAME.match(line))
