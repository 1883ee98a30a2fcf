"""What a session belongs to: a flow, named by something that stays the same when the flow is edited."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from flows.document import Flow
from flows.fingerprints import fingerprint
from flows.json_values import as_text

MAX_KEY: Final = 200
"""Characters of a session id and of a flow's key."""


def flow_key(flow: Flow, otherwise: str | None = None) -> str:
    """The key of a flow that is not stored: the id in its document, else one of what names it.

    Args:
        flow: the flow.
        otherwise: names a flow without an id, such as the path of its file or its conversation; None takes the flow's
            fingerprint, so that it starts afresh when it is edited.
    """
    own = as_text(flow.raw.get("id")).strip()
    if own and len(own) <= MAX_KEY:
        return clean_key(own)
    if otherwise is None:
        return f"flow-{fingerprint(flow)}"
    return f"named-{sha256(otherwise.encode('utf-8', 'replace')).hexdigest()[:40]}"


def clean_key(text: str) -> str:
    """A key that every database can hold; a longer one than `MAX_KEY` is replaced by its digest."""
    clean = text.strip().replace("\0", "").encode("utf-8", "replace").decode()
    return clean if len(clean) <= MAX_KEY else sha256(clean.encode()).hexdigest()
