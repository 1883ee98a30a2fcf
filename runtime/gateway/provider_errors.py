"""Classifies failed model requests, for the assistant's turns and for running flows."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic_ai import exceptions as ai

from runtime.egress.outgoing import AddressRefused
from runtime.gateway.limits.responses import BodyTooLarge, BodyUnreadable
from runtime.gateway.provider_bodies import body_text
from runtime.results import RunErrorCode


@dataclass(frozen=True)
class ProviderError:
    """One class of failures.

    Attributes:
        code: its stable name in the result of a turn.
        message: what happened, with `{provider}` and `{model}` to fill in.
        fix: what to do about it.
        status: the HTTP status for the client in a flow.
        kind: OpenAI's error `type`.
        api_code: OpenAI's error `code`.
        run: the error code of a run that fails because of it.
        retry: whether the client in a flow may retry by itself.
    """

    code: str
    message: str
    fix: str
    status: int
    kind: str
    api_code: str
    run: RunErrorCode = "external"
    retry: bool = False

    def format(self, provider: str = "The provider", model: str = "this model") -> str:
        """The message for a user.

        Args:
            provider: the subject of the sentence.
            model: the model's name.
        """
        return self.message.format(provider=provider, model=model)


_INVALID, _SERVER = "invalid_request_error", "server_error"
_AGAIN, _WAIT = "Try again.", "Wait a moment and try again."
_SWITCH = "Choose another model."

AUTH = ProviderError(
    "auth",
    "{provider} refused the key.",
    "Check the provider's API key.",
    401,
    "authentication_error",
    "invalid_api_key",
    "missing_key",
)
QUOTA = ProviderError(
    "quota",
    "{provider} says the quota is used up.",
    "Check plan and billing.",
    429,
    "insufficient_quota",
    "insufficient_quota",
)
RATE_LIMIT = ProviderError(
    "rate_limit", "{provider} is rate-limiting requests.", _WAIT, 429, "requests", "rate_limit_exceeded", retry=True
)
CONTEXT = ProviderError(
    "context_length",
    "The text is too long for {model}.",
    "Send less text, or choose another model.",
    400,
    _INVALID,
    "context_length_exceeded",
    "limit",
)
NOT_FOUND = ProviderError(
    "model_not_found", "{provider} does not have {model}.", _SWITCH, 404, _INVALID, "model_not_found", "missing_model"
)
WRONG_ADDRESS = ProviderError(
    "wrong_address",
    "{provider} was not found at this URL.",
    "Check the base URL of the provider's settings.",
    404,
    _INVALID,
    "model_not_found",
    "missing_model",
)
TIMEOUT = ProviderError("model_timeout", "{provider} did not answer in time.", _AGAIN, 504, _SERVER, "timeout")
UNREACHABLE = ProviderError(
    "model_unreachable",
    "{provider} could not be reached.",
    "Check the network.",
    502,
    _SERVER,
    "connection_error",
    retry=True,
)
ADDRESS_REFUSED = ProviderError(
    "address_refused",
    "{provider} has a link-local address, or one of a cloud's own services, to which this server does not connect.",
    "Give another address of the machine on which its models run.",
    502,
    _INVALID,
    "connection_refused",
)
OVERLOADED = ProviderError(
    "model_overloaded", "{provider} is overloaded.", _WAIT, 503, _SERVER, "overloaded", retry=True
)
FAILED = ProviderError("model_error", "{provider} failed to answer.", _AGAIN, 502, _SERVER, "server_error", retry=True)
REJECTED = ProviderError(
    "model_rejected", "{provider} rejected the request.", _SWITCH, 400, _INVALID, "invalid_request"
)
CONTENT_FILTER = ProviderError(
    "content_filter", "{provider} refused the content.", "Rephrase it.", 400, _INVALID, "content_filter"
)
UNUSABLE = ProviderError(
    "model_behaviour", "{provider} returned an unusable response.", _SWITCH, 502, _SERVER, "server_error"
)

TOO_LARGE = ProviderError(
    "model_too_large", "{provider} sent more than can be read.", _SWITCH, 502, _SERVER, "response_too_large"
)
CUT = ProviderError("model_cut", "{provider} stopped in the middle of its answer.", _AGAIN, 502, _SERVER, "answer_cut")

_BY_EXCEPTION: tuple[tuple[type[Exception], ProviderError], ...] = (
    (ai.ModelAuthenticationError, AUTH),
    (ai.ModelQuotaExceededError, QUOTA),
    (ai.ModelRateLimitError, RATE_LIMIT),
    (ai.ModelContextWindowExceededError, CONTEXT),
    (ai.ModelNotFoundError, NOT_FOUND),
    (ai.ModelTimeoutError, TIMEOUT),
    (ai.ModelRequestTimeout, TIMEOUT),
    (ai.ModelConnectionError, UNREACHABLE),
    (ai.ModelOverloadedError, OVERLOADED),
    (ai.ModelServerError, FAILED),
    (ai.ModelUnavailableError, FAILED),
    (ai.ModelRequestRejectedError, REJECTED),
    (ai.ModelAPIError, FAILED),
    (ai.ContentFilterError, CONTENT_FILTER),
    (ai.UnexpectedModelBehavior, UNUSABLE),
)

_TOO_LONG = (
    "context length",
    "context window",
    "maximum context",
    "context_length",
    "too many tokens",
    "tokens limit",
    "token limit",
    "too long",
    "too large for model",
    "reduce the length",
)
_USED_UP = ("quota", "billing", "credit balance", "insufficient credits", "spending limit", "payment required")
_DAILY = "perday"
"""Part of Gemini's names of daily limits, for which waiting a moment does not help."""
_KEYS = ("api key", "api_key", "token expired", "not_authenticated", "authentication_token")


def classify(failure: Exception) -> ProviderError | None:
    """The class of a failure, by its body before its status; None if it is not a provider's error.

    Args:
        failure: what a model request raised.
    """
    if _has_cause(failure, BodyTooLarge):
        return TOO_LARGE
    if _has_cause(failure, BodyUnreadable):
        return UNUSABLE
    if _has_cause(failure, AddressRefused):
        return ADDRESS_REFUSED
    if isinstance(failure, ai.ModelAPIError) and UNFINISHED in failure.message:
        return CUT
    if isinstance(failure, ai.ModelHTTPError):
        text, status = body_text(failure), failure.status_code
        if status == 413 or (status in (400, 403, 404, 422) and any(words in text for words in _TOO_LONG)):
            return CONTEXT
        if (status in (400, 403) and any(words in text for words in _USED_UP)) or (status == 429 and _DAILY in text):
            return QUOTA
        if status == 400 and any(words in text for words in _KEYS):
            return AUTH
        if status in (408, 504):
            return TIMEOUT
        if status == 404:
            return NOT_FOUND if is_model_unavailable(failure) else WRONG_ADDRESS
    return next((error for raised, error in _BY_EXCEPTION if isinstance(failure, raised)), None)


UNFINISHED = "ended without a `finish_reason`"
"""PydanticAI's words for a stream that was cut."""


def _has_cause(failure: BaseException | None, kind: type[Exception]) -> bool:
    """Whether a failure was caused by what we found in a body; vendors' clients wrap that in errors of their own."""
    seen = 0
    while failure is not None and seen < _CAUSES:
        if isinstance(failure, kind):
            return True
        failure, seen = failure.__cause__ or failure.__context__, seen + 1
    return False


_CAUSES = 10

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
    "model_not_supported",
    "model_not_available",
    "model_decommissioned",
    "has been decommissioned",
    "model_permission_blocked",
    "model_terms_required",
    "invalid_model",
    "unknown_model",
    "is not a valid model id",
    "invalid model name",
    "deploymentnotfound",
    "does not work with the specified model",
    "must be verified to use the model",
    "model identifier is invalid",
    "resolve the foundation model",
    "access to the model with the specified model id",
    "on-demand throughput isn",
    "reached the end of its life",
    "aws marketplace",
)
"""What providers write if the model is the problem, not the request."""

_ABOUT_MODELS = ("model", "deployment", "endpoints found")


def is_model_unavailable(failure: Exception) -> bool:
    """Whether another model of the same provider may answer.

    It cannot after failures of authentication, quota, rate limits, context length, network or address.
    """
    if not isinstance(failure, ai.ModelAPIError):
        return False
    if isinstance(failure, ai.ModelHTTPError) and failure.status_code not in (400, 403, 404, 410):
        return False
    text = body_text(failure)
    if any(marker in text for marker in MARKERS):
        return True
    if not isinstance(failure, ai.ModelNotFoundError):
        return False
    return not isinstance(failure, ai.ModelHTTPError) or any(word in text for word in _ABOUT_MODELS)
