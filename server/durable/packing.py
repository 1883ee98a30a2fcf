"""How what is recorded of a durable turn is written: JSON, compressed and encrypted."""

from __future__ import annotations

import asyncio
import base64
import json
import zlib
from typing import Final

from flows.json_values import Json
from runtime.keychain.documents import DocumentSealing

LEVEL: Final = 1
"""How hard records are compressed: flows repeat themselves, so that more takes time and saves little."""

INLINE: Final = 20_000
"""Characters up to which a text is packed at once."""

MARK: Final = ":"
"""What texts begin with that are base64; those of earlier versions are base85, which has no colon."""


def written(value: Json) -> str:
    """A value as JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def packed(text: str, documents: DocumentSealing) -> str:
    """A text compressed and encrypted. Blocks for a moment."""
    compressed = zlib.compress(text.encode("utf-8", "surrogatepass"), LEVEL)
    return documents.seal_text(MARK + base64.b64encode(compressed).decode())


async def packed_soon(text: str, documents: DocumentSealing) -> str:
    """The same; a text that takes less than going to a thread is packed at once."""
    return packed(text, documents) if len(text) <= INLINE else await asyncio.to_thread(packed, text, documents)


def unpacked(text: str, documents: DocumentSealing) -> Json:
    """The value whose JSON was given to `packed`. Blocks for a moment."""
    opened = documents.unseal_text(text)
    is_marked = opened.startswith(MARK)
    compressed = base64.b64decode(opened[len(MARK) :]) if is_marked else base64.b85decode(opened)
    return json.loads(zlib.decompress(compressed).decode("utf-8", "surrogatepass"))
