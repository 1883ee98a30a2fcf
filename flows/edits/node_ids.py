"""Node ids: the component type, a dash and five characters that follow from what the node is."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Container

_LETTERS = string.ascii_letters + string.digits


def new_node_id(component_type: str, seed: str, taken: Container[str]) -> str:
    """Return an id such as `ChatInput-a1B2c`, derived from `seed`, that is not in `taken`."""
    attempt = 0
    while True:
        text = f"{seed}\0{component_type}" if not attempt else f"{seed}\0{component_type}\0{attempt}"
        number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        suffix = ""
        for _ in range(5):
            number, digit = divmod(number, len(_LETTERS))
            suffix += _LETTERS[digit]
        node_id = f"{component_type}-{suffix}"
        if node_id not in taken:
            return node_id
        attempt += 1
