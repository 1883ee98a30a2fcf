"""What tells apart two batches, or two calls of a webhook, that name the same id: a digest of what was asked for."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from flows.document import Json

KEY: Final = "content"
"""Where a stored document has the digest of what was asked for."""


def digest_of(*content: Json) -> str:
    """A digest of what was asked for, in which the order of keys does not count.

    Args:
        content: JSON values.
    """
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
