"""Explains the failures of a turn to its user: a code, a message with the provider's innermost cause, and a fix.

An exception's own text is never shown: a provider's message is read from the response body, without secrets and paths.
"""

import math

from pydantic_ai import exceptions as ai

from agent.turn.result import TurnError
from runtime.gateway.provider_bodies import innermost_cause, redacted
from runtime.gateway.provider_errors import classify, is_model_unavailable


class AssistantUnavailable(Exception):
    """The assistant cannot take a turn; `error` has the message and fix for the user."""

    def __init__(self, error: TurnError) -> None:
        super().__init__(error.message)
        self.error = error


class ModelChoiceError(AssistantUnavailable):
    """The requested model is unavailable: its provider or name is unknown, or the provider has no key."""

    @classmethod
    def of(cls, code: str, message: str, fix: str) -> "ModelChoiceError":
        """Return the error with this code, message and fix."""
        return cls(TurnError(code=code, message=message, fix=fix))


def explain(failure: Exception, provider: str, tried: list[str]) -> TurnError:
    """Explain a failure to the user.

    Args:
        failure: the exception.
        provider: the turn's model provider.
        tried: the models of the chain, for the message when none was accessible.
    """
    if isinstance(failure, AssistantUnavailable):
        return failure.error
    if isinstance(failure, ai.FallbackExceptionGroup):
        last = failure.exceptions[-1] if failure.exceptions else None
        if isinstance(last, Exception) and not is_model_unavailable(last):
            return explain(last, provider, tried)
        return exhausted(provider, tried)
    if is_model_unavailable(failure) and tried:
        return exhausted(provider, tried)
    if isinstance(failure, ai.UsageLimitExceeded):
        return TurnError(code="limit", message="The turn exceeded its usage limit.", fix="Ask for less at a time.")
    if isinstance(failure, ai.RunTimedOut):
        return TurnError(code="timeout", message="The turn took too long.", fix="Ask for less at a time.")
    error = classify(failure)
    if error is None:
        return TurnError(code="internal", message="Something went wrong inside the assistant.", fix="Try again.")
    cause = innermost_cause(failure)
    suffix = f" The cause: {cause}" if cause else ""
    fix = error.fix
    asked = failure.retry_after if isinstance(failure, ai.ModelAPIError) else None
    if asked is not None and error.retry:
        fix = f"Try again in {math.ceil(asked)} seconds, as the provider asks."
    return TurnError(code=error.code, message=f"{error.format()}{suffix}", fix=fix)


def exhausted(provider: str, tried: list[str]) -> TurnError:
    """The error when no model of a provider was accessible."""
    message = (
        f"No accessible model on {provider}. Tried: {', '.join(redacted(name) for name in tried)}. "
        f"Configure access to one of these models in your {provider} account, "
        "or switch to a different provider in Settings → Model Providers."
    )
    return TurnError(code="models_exhausted", message=message, fix="Choose another provider.")
