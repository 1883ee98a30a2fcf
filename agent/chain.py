"""The model chain: one provider's candidates, moving on only when a model is not to be had."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import ModelMessage, ModelResponse, RunContext
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, ModelNotFoundError
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

MARKERS = (
    "model_not_found",
    "does not have access to model",
    "model is not available",
    "the model does not exist",
    "model not available",
    "no access to model",
    "not found (status code: 404)",
    "requires a subscription",
    "is no longer available to new users",
)
"""What providers write when a model, not the request, is the problem."""


def is_model_unavailable(failure: Exception) -> bool:
    """Whether another model of the same provider may answer where this one could not."""
    if isinstance(failure, ModelNotFoundError):
        return True
    if not isinstance(failure, ModelHTTPError) or failure.status_code not in (400, 403, 404):
        return False
    body = f"{failure.body} {failure.message}".lower()
    return any(marker in body for marker in MARKERS)


class Remembered(WrapperModel):
    """A candidate that, once found unavailable, fails at once without being asked again.

    The rest of a turn therefore stays with the model that answered first.
    """

    def __init__(self, wrapped: Model) -> None:
        super().__init__(wrapped)
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
        if is_model_unavailable(failure):
            self._unavailable = failure


def chain(candidates: Sequence[Model]) -> Model:
    """The model of one turn: the candidates in order, each asked only while those before it are not to be had.

    Args:
        candidates: at least one model, preferred first.
    """
    first, *others = [Remembered(candidate) for candidate in candidates]
    return FallbackModel(first, *others, fallback_on=is_model_unavailable) if others else first
