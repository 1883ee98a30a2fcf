"""The model chain: a provider's candidates, falling back only when a model is unavailable."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from pydantic_ai import ModelMessage, ModelResponse, RunContext
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, UnexpectedModelBehavior
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from runtime.gateway.provider_errors import UNREACHABLE, classify, is_model_unavailable
from runtime.telemetry import log_event


class Candidate(WrapperModel):
    """A model that, once found unavailable, fails at once without another request.

    The rest of a turn therefore stays with the first model that answered. A request whose connection is dropped before
    the response begins is sent once more: servers close connections that were idle, often just when one is used again.

    Args:
        wrapped: the model.
        provider: its provider, for the log.
        before: the names of the candidates before it.
        after: the name of the next candidate, if any.
    """

    def __init__(
        self, wrapped: Model, *, provider: str = "", before: Sequence[str] = (), after: str | None = None
    ) -> None:
        super().__init__(wrapped)
        self._provider_name = provider
        self._before = list(before)
        self._after = after
        self._unavailable: ModelAPIError | None = None

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send the request, unless the model is known to be unavailable."""
        self._raise_known()
        try:
            try:
                return await super().request(messages, model_settings, model_request_parameters)
            except ModelConnectionError as failure:
                if not _was_dropped(failure):
                    raise
            return await super().request(messages, model_settings, model_request_parameters)
        except ModelAPIError as failure:
            self._remember(failure)
            raise
        except (LookupError, TypeError, AttributeError) as failure:  # PydanticAI reads what is not in the response
            raise UnexpectedModelBehavior("The response has no answer.") from failure

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Send the request and stream the response, unless the model is known to be unavailable."""
        self._raise_known()
        arguments = (messages, model_settings, model_request_parameters, run_context)
        try:
            async with AsyncExitStack() as stack:
                try:
                    response = await stack.enter_async_context(super().request_stream(*arguments))
                except ModelConnectionError as failure:
                    if not _was_dropped(failure):
                        raise
                    response = await stack.enter_async_context(super().request_stream(*arguments))
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
                **{"from": self.model_name, "to": self._after, "provider": self._provider_name},
                tried_so_far=[*self._before, self.model_name],
            )


def _was_dropped(failure: ModelConnectionError) -> bool:
    """Whether a connection was lost after it had been opened and before the response began."""
    opened = failure.phase not in ("pool", "connect")
    return opened and not failure.in_stream and classify(failure) is UNREACHABLE


def chain(candidates: Sequence[Model], provider: str = "") -> Model:
    """Combine models into one that falls back to the next candidate when a model is unavailable.

    The agent does not notice a fallback: it costs none of the turn's attempts or requests.

    Args:
        candidates: at least one model, preferred first.
        provider: their provider, for the log.
    """
    names = [candidate.model_name for candidate in candidates]
    first, *others = [
        Candidate(candidate, provider=provider, before=names[:index], after=next(iter(names[index + 1 :]), None))
        for index, candidate in enumerate(candidates)
    ]
    return FallbackModel(first, *others, fallback_on=is_model_unavailable) if others else first
