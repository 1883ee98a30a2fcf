"""Whether what should name a file may name one outside the temporary folder."""

from __future__ import annotations

from runtime.guard import policy
from runtime.guard.values import Atom, Box, Const, File, Ref, Text, Value, contents

_BUFFERS = frozenset(
    [
        "io.BytesIO()",
        "io.StringIO()",
        "tempfile.SpooledTemporaryFile()",
        "io.TextIOWrapper()",
        "urllib.request.urlopen()",
        "io.BufferedReader()",
    ]
)
_MAY_BE_ABSENT = ("absent", "unless known", "memory", "folder")
_HTTP = ("http://", "https://")


def outside_files(value: Value, source: str) -> bool:
    """Whether what should name a file may name one outside the temporary folder; `source` as in `FileCall`."""
    return not value or any(_outside(atom, source) for atom in value)


def _outside(atom: Atom, source: str) -> bool:
    if isinstance(atom, File):
        return atom.depth < 0
    if not source:
        return True
    if isinstance(atom, Const):
        return _constant(atom.value, source)
    match atom:
        case Text(head):
            return "/" in head if source == "unless known" else source != "url" or not head.lower().startswith(_HTTP)
        case Ref(path):
            buffer = path in _BUFFERS or (path.endswith(")") and not policy.is_standard(path))
            return source in ("memory", "folder") or not buffer
        case Box():
            return outside_files(contents(atom), source)
        case _:
            return source != "unless known"


def _constant(value: object, source: str) -> bool:
    match value:
        case None:
            return source not in _MAY_BE_ABSENT
        case bytes():
            return source != "buffer"
        case str() if source == "memory":
            in_memory = value.startswith("file:") and ("mode=memory" in value or value.startswith("file::memory:"))
            return value not in ("", ":memory:") and not in_memory
        case str():
            return source != "url" or not value.lower().startswith(_HTTP)
        case _:
            return False
