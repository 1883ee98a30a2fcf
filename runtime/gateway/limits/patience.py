"""Waiting for a provider that asks to: a refused request is sent again after the time that its reply names."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeAlias

from pydantic_ai import ModelMessage, ModelResponse, RunContext
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from runtime.gateway.provider_errors import OVERLOADED, RATE_LIMIT, classify
from runtime.telemetry import log_event

SHORTEST = 0.5
"""The shortest wait in seconds, so that a provider that asks for none is not asked again at once."""

Notify: TypeAlias = Callable[[float], Awaitable[None]]
"""Is told how many seconds are waited, before each wait."""


def wait_for(failure: ModelAPIError) -> float | None:
    """How many seconds a failure asks to wait; None if waiting does not help."""
    asked = failure.retry_after
    if asked is None or failure.in_stream or classify(failure) not in (RATE_LIMIT, OVERLOADED):
        return None
    return max(asked, SHORTEST)


class PatientModel(WrapperModel):
    """A model whose "wait" is waited for, as long as all waits together stay within a limit.

    Only a refusal with a time in its `Retry-After` header is waited for: a rate limit or an overload, never a used-up
    quota. What cannot be waited for is raised as it is.

    Args:
        wrapped: the model, or a chain of models.
        notify: is told about each wait.
        limit: how many seconds all waits together may take.
    """

    def __init__(self, wrapped: Model, notify: Notify, limit: float) -> None:
        super().__init__(wrapped)
        self._notify = notify
        self._left = limit

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send the request; again after each wait."""
        while True:
            try:
                return await super().request(messages, model_settings, model_request_parameters)
            except ModelAPIError as failure:
                seconds = self._wait_for(failure)
                if seconds is None:
                    raise
            await self._wait(seconds)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Send the request and stream the response; a stream that has begun is never sent again."""
        while True:
            async with AsyncExitStack() as stack:
                opening = super().request_stream(messages, model_settings, model_request_parameters, run_context)
                try:
                    response = await stack.enter_async_context(opening)
                except ModelAPIError as failure:
                    seconds = self._wait_for(failure)
                    if seconds is None:
                        raise
                else:
                    yield response
                    return
            await self._wait(seconds)

    def _wait_for(self, failure: ModelAPIError) -> float | None:
        """How many seconds to wait after a failure; None if it is not waited for."""
        seconds = wait_for(failure)
        return seconds if seconds is not None and seconds <= self._left else None

    async def _wait(self, seconds: float) -> None:
        self._left -= seconds
        log_event("assistant.provider.wait", seconds=seconds, model=self.model_name)
        await self._notify(seconds)
        await asyncio.sleep(seconds)
