"""What concerns a whole server: its state, its bundles, and the evaluations that it shows."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import httpx

from cli.remote.connection import Server, segment
from server.routes.health import Liveness, Readiness
from server.routes.installation.bundles import BundleEntry, BundlePage
from server.routes.installation.evaluations import EvaluationFile, EvaluationPage, LinePage

BUNDLES: Final = "/api/v1/bundles"
EVALUATIONS: Final = "/api/v1/evaluations"
DOWNLOAD_SECONDS: Final = 300.0
"""How long a server may take for a file."""
_PAGE: Final = 200
"""Entries that a page has at most."""


def liveness(server: Server) -> Liveness:
    """That the server runs, and its release."""
    return server.read(Liveness, "/healthz")


def readiness(server: Server) -> Readiness:
    """Whether everything works, also when it does not."""
    return server.typed(Readiness, server.send("GET", "/readyz", also=(httpx.codes.SERVICE_UNAVAILABLE,)))


def bundles(server: Server, text: str, *, installed: bool) -> list[BundleEntry]:
    """Bundles, by name.

    Args:
        server: the server.
        text: what stands in their names or in one of their types.
        installed: whether only installed ones are wanted.
    """
    found: list[BundleEntry] = []
    while True:
        asked: dict[str, str | int] = {"q": text, "limit": _PAGE, "offset": len(found)}
        page = server.read(BundlePage, BUNDLES, asked | ({"installed": "true"} if installed else {}))
        found += page.bundles
        if page.next is None or not page.bundles:
            return found


def bundle(server: Server, name: str) -> BundleEntry:
    """One bundle, and how its installation stands."""
    return server.read(BundleEntry, f"{BUNDLES}/{segment(name)}")


def install_bundle(server: Server, name: str) -> BundleEntry:
    """Begin to install a bundle for everyone."""
    return server.change(BundleEntry, "POST", f"{BUNDLES}/{segment(name)}/install")


def evaluations(server: Server, text: str) -> list[EvaluationFile]:
    """The files of evaluations, last written first.

    Args:
        server: the server.
        text: what stands in their names.
    """
    found: list[EvaluationFile] = []
    while True:
        page = server.read(EvaluationPage, EVALUATIONS, {"q": text, "limit": _PAGE, "offset": len(found)})
        found += page.evaluations
        if page.next is None or not page.evaluations:
            return found


def evaluation_lines(server: Server, name: str, limit: int, offset: int) -> LinePage:
    """A page of the lines of a journal or of scores."""
    return server.read(LinePage, f"{EVALUATIONS}/{quote(name)}/entries", {"limit": limit, "offset": offset})


def evaluation_content(server: Server, name: str) -> bytes:
    """A file of an evaluation, as it is."""
    return server.send("GET", f"{EVALUATIONS}/{quote(name)}", timeout=DOWNLOAD_SECONDS).content
