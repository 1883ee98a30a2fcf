"""Failures of a turn in words for its user: a code, a message with the deepest cause the provider gave, and a fix.

An exception's own text is never shown: what a provider says is taken from its body, without secrets and paths.
"""

from pydantic_ai import exceptions as ai

from agent.turn.result import TurnError
from runtime.gateway.provider_bodies import innermost_cause, redacted
from runtime.gateway.provider_errors import classify, is_model_unavailable


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


_LESS = "Ask for less at a time."


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
    if isinstance(failure, ai.UsageLimitExceeded):
        return TurnError(code="limit", message="The turn took more steps than it may.", fix=_LESS)
    if isinstance(failure, ai.RunTimedOut):
        return TurnError(code="timeout", message="The turn took too long.", fix=_LESS)
    error = classify(failure)
    if error is None:
        return TurnError(code="internal", message="Something went wrong inside the assistant.", fix="Try again.")
    cause = innermost_cause(failure)
    suffix = f" The cause: {cause}" if cause else ""
    return TurnError(code=error.code, message=f"{error.words()}{suffix}", fix=error.fix)


def explain_exhausted(failure: ai.FallbackExceptionGroup, provider: str, tried: list[str]) -> TurnError:
    """The words when every candidate of the chain was tried; a failure of another class speaks for itself."""
    last = failure.exceptions[-1] if failure.exceptions else None
    if isinstance(last, Exception) and not is_model_unavailable(last):
        return explain(last, provider, tried)
    return exhausted(provider, tried)


def exhausted(provider: str, tried: list[str]) -> TurnError:
    """The words when no candidate of a provider was to be had."""
    message = (
        f"No accessible model on {provider}. Tried: {', '.join(redacted(name) for name in tried)}. "
        f"Configure access to one of these models in your {provider} account, "
        "or switch to a different provider in Settings → Model Providers."
    )
    return TurnError(code="models_exhausted", message=message, fix="Choose another provider.")
