"""The start of a turn, as it is recorded for the process that resumes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict

from agent.turn.request import TurnRequest
from flows.document import Flow, JsonObject
from server.store.flows import StoredFlow


class TurnDocument(BaseModel):
    """A turn as it was requested.

    Attributes:
        request: the request.
        held_keys: whether it held a key that was not kept.
        model: the provider, or the model, that serves it.
        details: whether its events say how it started, what the model thinks and what tools do.
        stored: the stored flow as the request found it, without its document, which the request has.
    """

    model_config = ConfigDict(frozen=True)

    request: TurnRequest
    held_keys: bool = False
    model: str | None = None
    details: bool = False
    stored: dict[str, Any] | None = None

    @classmethod
    def of(cls, request: TurnRequest, model: str, stored: StoredFlow | None, *, details: bool) -> TurnDocument:
        """The document of a turn."""
        entry = None if stored is None else asdict(stored.entry)
        return cls(request=request, held_keys=request.held_keys, model=model, details=details, stored=entry)

    @property
    def turn_request(self) -> TurnRequest:
        """The request as it was."""
        return self.request.model_copy(update={"held_keys": self.held_keys})

    @property
    def flow(self) -> JsonObject:
        """The flow of the request."""
        return (self.request.flow or Flow.empty()).raw
