"""The model chain: one provider's candidates, moving on only when a model is not to be had."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import ModelMessage, ModelResponse, RunContext
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from runtime.gateway.provider_errors import is_model_unavailable
from runtime.telemetry import log_event


class Remembered(WrapperModel):
    """A candidate that, once found unavailable, fails at once without being asked again.

    The rest of a turn therefore stays with the model that answered first.

    Args:
        wrapped: the candidate.
        provider: whose it is.
        before: the names of the candidates before it.
        after: the name of the next one, if any.
    """

    def __init__(
        self, wrapped: Model, *, provider: str = "", before: Sequence[str] = (), after: str | None = None
    ) -> None:
        super().__init__(wrapped)
        self._owner = provider
        self._before = list(before)
        self._after = after
        self._unavailable: ModelAPIError | None = None

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Ask the model, unless it is known to be unavailable."""
        self._raise_known()
        try:
            return await super().request(messages, model_settings, model_request_parameters)
        except ModelAPIError as failure:
            self._remember(failure)
            raise

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Ask the model for a stream, unless it is known to be unavailable."""
        self._raise_known()
        try:
            async with super().request_stream(
                messages, model_settings, model_request_parameters, run_context
            ) as response:
                yield response
        except ModelAPIError as failure:
            self._remember(failure)
            raise

    def _raise_known(self) -> None:
        if self._unavailable is not None:
            raise self._unavailable

    def _remember(self, failure: ModelAPIError) -> None:
        if self._unavailable is not None or not is_model_unavailable(failure):
            return
        self._unavailable = failure
        if self._after is not None:
            log_event(
                "assistant.model_fallback",
                logging.INFO,
                **{"from": self.model_name, "to": self._after, "provider": self._owner},
                tried_so_far=[*self._before, self.model_name],
            )


def chain(candidates: Sequence[Model], provider: str = "") -> Model:
    """The model of one turn: the candidates in order, each asked only while those before it are not to be had.

    Moving on happens below the agent: it costs no attempt and no request of the turn.

    Args:
        candidates: at least one model, preferred first.
        provider: whose they are, for the log.
    """
    names = [candidate.model_name for candidate in candidates]
    first, *others = [
        Remembered(candidate, provider=provider, before=names[:index], after=next(iter(names[index + 1 :]), None))
        for index, candidate in enumerate(candidates)
    ]
    return FallbackModel(first, *others, fallback_on=is_model_unavailable) if others else first
