"""Failures of a turn in words for its user: every exception gets a code, a message and a fix, never its own text."""

from pydantic_ai import exceptions as ai

from agent.turn import TurnError


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

_KINDS: tuple[tuple[type[Exception], str, str, str], ...] = (
    (ai.ModelAuthenticationError, "auth", "The provider refused the key.", "Check the provider's API key."),
    (ai.ModelQuotaExceededError, "quota", "The provider says the quota is used up.", "Check plan and billing."),
    (ai.ModelRateLimitError, "rate_limit", "Rate limit exceeded.", "Wait a moment and try again."),
    (ai.ModelContextWindowExceededError, "context_length", "The conversation is too long for this model.", _SWITCH),
    (ai.ModelNotFoundError, "model_not_found", "The provider does not have this model.", _SWITCH),
    (ai.ModelTimeoutError, "model_timeout", "The provider did not answer in time.", "Try again."),
    (ai.ModelConnectionError, "model_unreachable", "The provider could not be reached.", "Check the network."),
    (ai.ModelOverloadedError, "model_overloaded", "The provider is overloaded.", "Wait a moment and try again."),
    (ai.ModelServerError, "model_error", "The provider failed to answer.", "Try again."),
    (ai.ModelUnavailableError, "model_error", "The provider failed to answer.", "Try again."),
    (ai.ModelRequestRejectedError, "model_rejected", "The provider rejected the request.", _SWITCH),
    (ai.ModelAPIError, "model_error", "The provider failed to answer.", "Try again."),
    (ai.UsageLimitExceeded, "limit", "The turn took more steps than it may.", "Ask for less at a time."),
    (ai.RunTimedOut, "timeout", "The turn took too long.", "Ask for less at a time."),
    (ai.UnexpectedModelBehavior, "model_behaviour", "The model did not answer in a usable way.", _SWITCH),
)


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
    for kind, code, message, fix in _KINDS:
        if isinstance(failure, kind):
            return TurnError(code=code, message=message, fix=fix)
    return TurnError(code="internal", message="Something went wrong inside the assistant.", fix="Try again.")


def explain_exhausted(failure: ai.FallbackExceptionGroup, provider: str, tried: list[str]) -> TurnError:
    """The words when every candidate of the chain was tried; a failure of another class speaks for itself."""
    last = failure.exceptions[-1] if failure.exceptions else None
    if isinstance(last, Exception) and not isinstance(last, ai.ModelAPIError):
        return explain(last, provider, tried)
    return TurnError(
        code="models_exhausted",
        message=f"No accessible model on {provider}. Tried: {', '.join(tried)}.",
        fix="Configure access to one of them, or switch to a different provider.",
    )
