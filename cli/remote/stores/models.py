"""The language models of a server, as `wirewright models` and a conversation ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agent.models.overview import Overview
from cli.remote.connection import Server, segment
from server.routes.installation.models import TestReply
from server.routes.providers import ProviderEntry

MODELS: Final = "/api/v1/models"
PROVIDERS: Final = "/api/v1/providers"
TEST_SECONDS: Final = 60.0
"""How long a test may take."""


class RemoteModels:
    """The models and the providers of a server.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def overview(self) -> Overview:
        """Every provider, whether it is configured and why, and the default."""
        return self._server.read(Overview, MODELS)

    def names(self) -> list[str]:
        """The models that can be chosen: those that the configured providers offer by themselves, and `demo`."""
        found = self.overview()
        return [*(f"{one.name}:{model}" for one in found.providers if one.configured for model in one.models), "demo"]

    def test(self, models: list[str]) -> TestReply:
        """Whether models answer; none names the default and one of each configured provider."""
        return self._server.change(TestReply, "POST", f"{MODELS}/test", {"models": models}, timeout=TEST_SECONDS)

    def keep(self, provider: str, values: Mapping[str, object]) -> ProviderEntry:
        """Store what a provider needs, in place of what was stored before."""
        return self._server.change(ProviderEntry, "PUT", f"{PROVIDERS}/{segment(provider)}", values)

    def forget(self, provider: str) -> None:
        """Remove what is stored for a provider."""
        self._server.send("DELETE", f"{PROVIDERS}/{segment(provider)}")
