"""Judges what encrypts a connection: whoever stands in its place is given the socket below."""

from __future__ import annotations

from typing import Final

from runtime.guard.interpreter.arguments import Call
from runtime.guard.values import EMPTY, Const, Local, Made, Ref, Unknown
from runtime.guard.verdicts import judging

_CONTEXTS = (Ref("ssl.create_default_context()"), Ref("ssl.SSLContext()"), Const(None))
_PLACES: Final = {"urllib.request.HTTPSHandler": 1, "urllib.request.urlopen": 6}
_TAKES_ANYTHING = ("wrap_socket", "wrap_bio", "__getattr__")
"""What a class of the source defines that can stand in the place of such a context."""


def encryption(call: Call) -> None:
    """Judge the context of a call that connects."""
    fix = "Pass what ssl.create_default_context() gives, or nothing."
    what = f"{judging.source_path(call.path)} with something in the place of an SSL context"
    given = call.given
    if call.path.startswith(("urllib.request.", "http.client.")):
        context = given.named.get("context", EMPTY) | (given.at(_PLACES.get(call.path, -1)) or EMPTY)
        if any(atom not in _CONTEXTS for atom in context) or (given.more and call.path in _PLACES):
            call.report("sockets", what, fix)
        if call.path == "http.client.HTTPSConnection":
            _connection(call)
    for name in ("verify", "ssl", "ssl_context"):
        if any(_is_own(call, atom) for atom in given.named.get(name, EMPTY)):
            call.report("sockets", what, fix)


def _connection(call: Call) -> None:
    """A connection takes names of files, too: by keyword, and by position after the port."""
    if len(call.given.given) > 2 or call.given.more or {"key_file", "cert_file"} & call.given.named.keys():
        call.report("files", "`http.client.HTTPSConnection` with files of keys")


def _is_own(call: Call, atom: object) -> bool:
    """Whether an argument may be an object of the source in the place of a context."""
    own = not call.reading.stored.isdisjoint(_TAKES_ANYTHING)
    return isinstance(atom, Made | Local) or (own and isinstance(atom, Unknown))
