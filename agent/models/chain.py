"""The model chain: a provider's candidates, falling back only when a model is unavailable."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from opentelemetry.trace import get_current_span
from pydantic_ai import ModelMessage, ModelResponse, ModelResponseStreamEvent, RunContext
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, UnexpectedModelBehavior
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import (
    FallbackModel,
    _stamp_continuation,  # pyright: ignore[reportPrivateUsage]  (nothing public pins an answer that goes on)
)
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

    @property
    def is_available(self) -> bool:
        """Whether it was not found unavailable."""
        return self._unavailable is None

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


class Chain(FallbackModel):
    """Candidates in order; while the first one answers, its answers come from it directly.

    The framework prepares each request twice, to have the span of a trace say what the candidate was sent, and pulls
    each event of a stream through a lock, to wait for the first one. Without a trace, only that first one is waited for
    here. Whatever fails then is left to the framework, since a candidate that was unavailable is not asked again.

    Args:
        first: the candidate that is preferred.
        others: those after it.
    """

    def __init__(self, first: Candidate, *others: Candidate) -> None:
        super().__init__(first, *others, fallback_on=ModelAPIError)
        self._first = first

    async def _should_fallback(self, value: Exception | ModelResponse) -> bool:
        return isinstance(value, Exception) and is_model_unavailable(value)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send the request to the first candidate that is available."""
        if self._asks_first(messages, model_settings):
            prepared = self._first.prepare_messages(messages, model_request_parameters)
            try:
                response = await self._first.request(prepared, model_settings, model_request_parameters)
            except ModelAPIError as failure:
                if not is_model_unavailable(failure):
                    raise
            else:
                if response.state == "suspended":
                    _stamp_continuation(response, self._first)
                return response
        return await super().request(messages, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Send the request and stream the response, once it has begun."""
        arguments = (model_settings, model_request_parameters, run_context)
        async with AsyncExitStack() as stack:
            response, direct = None, self._asks_first(messages, model_settings)
            if direct:
                prepared = self._first.prepare_messages(messages, model_request_parameters)
                try:
                    response = await stack.enter_async_context(_begun(self._first, prepared, *arguments))
                except ModelAPIError as failure:
                    if not is_model_unavailable(failure):
                        raise
            if response is None:
                yield await stack.enter_async_context(super().request_stream(messages, *arguments))
                return
            yield response
            if response.state == "suspended":
                _stamp_continuation(response, self._first)

    def _asks_first(self, messages: Sequence[ModelMessage], settings: ModelSettings | None) -> bool:
        """Whether the first candidate is asked, and nothing is asked for that the framework does with the others."""
        last = messages[-1] if messages else None
        goes_on = isinstance(last, ModelResponse) and last.state == "suspended"
        timed = settings is not None and "request_timeout" in settings
        return self._first.is_available and not (goes_on or timed or get_current_span().is_recording())


@asynccontextmanager
async def _begun(
    model: Model,
    messages: list[ModelMessage],
    settings: ModelSettings | None,
    parameters: ModelRequestParameters,
    run_context: RunContext[Any] | None,
) -> AsyncGenerator[StreamedResponse]:
    """A stream whose first event has come, so that a failure before it is one of the request."""
    async with model.request_stream(messages, settings, parameters, run_context) as response:
        events = aiter(response)
        first = await anext(events, None)
        if first is not None:
            response._event_iterator = _from(first, events)  # pyright: ignore[reportPrivateUsage]  (as the framework does)
        yield response


async def _from(
    first: ModelResponseStreamEvent, others: AsyncIterator[ModelResponseStreamEvent]
) -> AsyncGenerator[ModelResponseStreamEvent]:
    """An event that was taken, and those after it."""
    try:
        yield first
        async for event in others:
            yield event
    finally:
        if isinstance(others, AsyncGenerator):
            await others.aclose()


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
    return Chain(first, *others) if others else first
