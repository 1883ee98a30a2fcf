"""Failures of a turn in words for its user: a code, a message with the deepest cause the provider gave, and a fix.

An exception's own text is never shown: what a provider says is taken from its body, without secrets and paths.
"""

from dataclasses import dataclass

from pydantic_ai import exceptions as ai

from agent.models.causes import deepest, fit, told
from agent.models.chain import is_model_unavailable
from agent.turn.result import TurnError


class AssistantUnavailable(Exception):
    """The assistant cannot take a turn; the message and fix are for the user."""

    def __init__(self, error: TurnError) -> None:
        super().__init__(error.message)
        self.error = error


class ModelChoiceError(AssistantUnavailable):
    """The model that was asked for cannot be had: an unknown provider or name, or one without a key."""

    @classmethod
    def of(cls, code: str, message: str, fix: str) -> "ModelChoiceError":
        """The error with these words."""
        return cls(TurnError(code=code, message=message, fix=fix))


_SWITCH = "Choose another model, or another provider."


@dataclass(frozen=True)
class _Kind:
    """How a class of failures is said."""

    code: str
    message: str
    fix: str


_AUTH = _Kind("auth", "The provider refused the key.", "Check the provider's API key.")
_QUOTA = _Kind("quota", "The provider says the quota is used up.", "Check plan and billing.")
_RATE = _Kind("rate_limit", "Rate limit exceeded.", "Wait a moment and try again.")
_CONTEXT = _Kind("context_length", "The conversation is too long for this model.", _SWITCH)
_TIMEOUT = _Kind("model_timeout", "The provider did not answer in time.", "Try again.")
_ADDRESS = _Kind(
    "wrong_address", "The provider has nothing at this address.", "Check the base URL of the provider's settings."
)
_ERROR = _Kind("model_error", "The provider failed to answer.", "Try again.")

_KINDS: tuple[tuple[type[Exception], _Kind], ...] = (
    (ai.ModelAuthenticationError, _AUTH),
    (ai.ModelQuotaExceededError, _QUOTA),
    (ai.ModelRateLimitError, _RATE),
    (ai.ModelContextWindowExceededError, _CONTEXT),
    (ai.ModelNotFoundError, _Kind("model_not_found", "The provider does not have this model.", _SWITCH)),
    (ai.ModelTimeoutError, _TIMEOUT),
    (ai.ModelRequestTimeout, _TIMEOUT),
    (ai.ModelConnectionError, _Kind("model_unreachable", "The provider could not be reached.", "Check the network.")),
    (
        ai.ModelOverloadedError,
        _Kind("model_overloaded", "The provider is overloaded.", "Wait a moment and try again."),
    ),
    (ai.ModelServerError, _ERROR),
    (ai.ModelUnavailableError, _ERROR),
    (ai.ModelRequestRejectedError, _Kind("model_rejected", "The provider rejected the request.", _SWITCH)),
    (ai.ModelAPIError, _ERROR),
    (ai.UsageLimitExceeded, _Kind("limit", "The turn took more steps than it may.", "Ask for less at a time.")),
    (ai.RunTimedOut, _Kind("timeout", "The turn took too long.", "Ask for less at a time.")),
    (ai.ContentFilterError, _Kind("content_filter", "The provider refused the content.", "Say it differently.")),
    (
        ai.UnexpectedModelBehavior,
        _Kind("model_behaviour", "The model did not answer in a usable way.", _SWITCH),
    ),
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
"""In Gemini's names of limits that waiting a moment does not lift."""
_KEYS = ("api key", "api_key", "token expired", "not_authenticated", "authentication_token")


def explain(failure: Exception, provider: str, tried: list[str]) -> TurnError:
    """The user's words for a failure.

    Args:
        failure: what was raised.
        provider: whose models the turn used.
        tried: the model names of the chain, for the message when none was accessible.
    """
    if isinstance(failure, AssistantUnavailable):
        return failure.error
    if isinstance(failure, ai.FallbackExceptionGroup):
        return explain_exhausted(failure, provider, tried)
    if is_model_unavailable(failure) and tried:
        return exhausted(provider, tried)
    kind = _kind(failure)
    if kind is None:
        return TurnError(code="internal", message="Something went wrong inside the assistant.", fix="Try again.")
    cause = deepest(failure)
    said = f" The cause: {cause}" if cause else ""
    return TurnError(code=kind.code, message=f"{kind.message}{said}", fix=kind.fix)


def _kind(failure: Exception) -> _Kind | None:
    """The class of a failure: what the body says comes before what the status says."""
    if isinstance(failure, ai.ModelHTTPError):
        said, status = told(failure), failure.status_code
        if status == 413 or (status in (400, 403, 404, 422) and any(words in said for words in _TOO_LONG)):
            return _CONTEXT
        if status in (400, 403) and any(words in said for words in _USED_UP):
            return _QUOTA
        if status == 429 and _DAILY in said:
            return _QUOTA
        if status == 400 and any(words in said for words in _KEYS):
            return _AUTH
        if status in (408, 504):
            return _TIMEOUT
        if status == 404:
            return _ADDRESS
    return next((kind for raised, kind in _KINDS if isinstance(failure, raised)), None)


def explain_exhausted(failure: ai.FallbackExceptionGroup, provider: str, tried: list[str]) -> TurnError:
    """The words when every candidate of the chain was tried; a failure of another class speaks for itself."""
    last = failure.exceptions[-1] if failure.exceptions else None
    if isinstance(last, Exception) and not is_model_unavailable(last):
        return explain(last, provider, tried)
    return exhausted(provider, tried)


def exhausted(provider: str, tried: list[str]) -> TurnError:
    """The words when no candidate of a provider was to be had."""
    message = (
        f"No accessible model on {provider}. Tried: {', '.join(fit(name) for name in tried)}. "
        f"Configure access to one of these models in your {provider} account, "
        "or switch to a different provider in Settings → Model Providers."
    )
    return TurnError(code="models_exhausted", message=message, fix="Choose another provider.")
