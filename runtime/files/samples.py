"""Small sample files, with which a verification run tries a node that has no file yet."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

TEXT: Final = "This is a sample file.\nThe office opens at nine o'clock and closes at five.\n"
_ROWS: Final = "name,amount\nAda,3\nGrace,5\n"
_RECORD: Final = '{"name": "Ada", "amount": 3}\n'


def sample_kind(accepted: Sequence[str], output: str = "") -> str:
    """The kind of file that fits a field.

    Args:
        accepted: the endings that the field reads; empty for any.
        output: the name of the output that is used, which may need rows.
    """
    if output == "dataframe" and (not accepted or "csv" in accepted):
        return "csv"
    return next((kind for kind in _KINDS if not accepted or kind in accepted), "txt")


def sample(kind: str) -> bytes:
    """The content of a small file of a kind that `sample_kind` gives."""
    return _KINDS.get(kind, TEXT.encode)()


def _png() -> bytes:
    """One white pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\x00\xff\xff\xff"))
        + chunk(b"IEND", b"")
    )


_KINDS: Mapping[str, Callable[[], bytes]] = MappingProxyType(
    {
        "txt": TEXT.encode,
        "md": TEXT.encode,
        "csv": _ROWS.encode,
        "json": _RECORD.encode,
        "yaml": _RECORD.encode,
        "yml": _RECORD.encode,
        "png": _png,
    }
)
"""How each kind is made, the most widely read first."""
