"""What stands for conversations and turns where their ids are not to be written."""

from __future__ import annotations

import hashlib


def session_digest(session: str) -> str:
    """Stands for a conversation, whose id is any text of the client's."""
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


def turn_name(owner: str, turn: str) -> str:
    """Names a turn in notices: 16 characters."""
    return hashlib.sha256(f"{owner} {turn}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
