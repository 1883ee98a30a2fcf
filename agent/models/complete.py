"""Whole answers: a stream that ends before its answer does is an error, whatever the provider's wire format."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

from pydantic_ai import ModelMessage, RunContext
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from runtime.gateway.provider_errors import UNFINISHED

_GOING_ON = frozenset({None, "in_progress", "queued"})
"""What providers say of an answer that has not ended."""


class CompleteAnswers(WrapperModel):
    """A provider's model; every provider says how an answer has ended, so one that does not was cut.

    Args:
        wrapped: the model.
        http_client: its HTTP client, which is closed whenever the last block of the model is left; None if another
            closes it.
    """

    def __init__(self, wrapped: Model, http_client: Any = None) -> None:
        super().__init__(wrapped)
        self._http_client = http_client
        self._blocks = 0

    async def __aenter__(self) -> Self:
        """Enter a block of the model."""
        await super().__aenter__()
        self._blocks += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Leave it; the last one closes the connections of the model's own HTTP client."""
        self._blocks -= 1
        try:
            return await super().__aexit__(kind, error, trace)
        finally:
            if self._http_client is not None and not self._blocks:
                await self._http_client.aclose()

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Send the request and stream the response.

        Raises:
            ModelAPIError: the stream ended, or its connection was lost, in the middle of the answer.
        """
        async with super().request_stream(messages, model_settings, model_request_parameters, run_context) as response:
            try:
                yield response
            except ModelConnectionError as failure:
                if not response.get().parts:
                    raise
                raise self._cut() from failure
        drained = response._finished  # pyright: ignore[reportPrivateUsage]  (nothing public tells it from being left)
        if drained and _is_cut(response):
            raise self._cut()

    def _cut(self) -> ModelAPIError:
        return ModelAPIError(model_name=self.model_name, message=f"Streamed response {UNFINISHED}")


def _is_cut(response: StreamedResponse) -> bool:
    details = response.provider_details or {}
    return response.finish_reason is None and details.get("finish_reason") in _GOING_ON
