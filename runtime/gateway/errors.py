"""Failures of model calls: each exception gets the HTTP status and code of its class, and a matching `RunError`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic_ai import exceptions as ai

from flows.document import JsonObject
from runtime.failures import scrub
from runtime.gateway.models import ModelUnavailable
from runtime.gateway.provider_bodies import innermost_cause
from runtime.gateway.provider_errors import FAILED, REJECTED, classify
from runtime.results import RunError, RunErrorCode


@dataclass(frozen=True, kw_only=True)
class CallFailure:
    """Why a call failed: the response to the client in the flow, and the error of the run.

    Attributes:
        status: the HTTP status, from which the client's SDK chooses its exception.
        kind: OpenAI's error `type`.
        code: OpenAI's error `code`.
        message: what happened, for the user.
        run: the error code of a run that fails because of it.
        fix: what to do about it.
        retry: whether the client may retry by itself.
        retry_after: how many seconds the provider wants to wait.
        closes: whether the connection is closed, because the client may not send the rest of its request.
    """

    status: int
    kind: str
    code: str
    message: str
    run: RunErrorCode = "external"
    fix: str = ""
    retry: bool = False
    retry_after: float | None = None
    closes: bool = False

    def body(self) -> JsonObject:
        """The error body in OpenAI's format."""
        return {"error": {"message": self.message, "type": self.kind, "param": None, "code": self.code}}

    def headers(self) -> Mapping[str, str]:
        """Headers that tell the SDK whether to retry, whatever the status, and whether the connection ends."""
        wait = {} if self.retry_after is None else {"retry-after": f"{self.retry_after:g}"}
        end = {"connection": "close"} if self.closes else {}
        return {"x-should-retry": "true" if self.retry else "false", **wait, **end}

    def error(self, node: str | None) -> RunError:
        """The error of a run that fails because of it."""
        return RunError(code=self.run, message=self.message, fix=self.fix, node=node)


class CallRefused(Exception):
    """The gateway refuses a call."""

    def __init__(self, failure: CallFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


_SWITCH = "Choose another model in the node."
_AGAIN = "Try again."

UNKNOWN_KEY = CallFailure(
    status=401,
    kind="authentication_error",
    code="invalid_api_key",
    message="The key does not belong to an active run.",
    run="missing_key",
)


def invalid(message: str, *, status: int = 400, code: str = "invalid_request", closes: bool = False) -> CallRefused:
    """The refusal of a request that cannot be served as it is."""
    kind = "invalid_request_error"
    return CallRefused(CallFailure(status=status, kind=kind, code=code, message=message, run="code", closes=closes))


def over_budget(message: str) -> CallRefused:
    """The refusal of a call that exceeds the run's budget."""
    fix = "Let the flow call its models less often, or with less text."
    failure = CallFailure(
        status=429, kind="run_budget", code="run_budget_exceeded", message=message, run="limit", fix=fix
    )
    return CallRefused(failure)


def _unavailable(missing: ModelUnavailable) -> CallFailure:
    """The failure of a call to an unavailable model."""
    if missing.code == "missing_key":
        status, kind, code = 401, "authentication_error", "invalid_api_key"
    else:
        status, kind, code = 404, "invalid_request_error", "model_not_found"
    return CallFailure(
        status=status, kind=kind, code=code, message=missing.message, run=missing.code, fix=missing.fix or _SWITCH
    )


def explain(failure: Exception, model: str) -> CallFailure:
    """Why a call failed.

    Args:
        failure: what was raised.
        model: the name that the flow requested.
    """
    if isinstance(failure, CallRefused):
        return failure.failure
    if isinstance(failure, ModelUnavailable):
        return _unavailable(failure)
    if isinstance(failure, ai.FallbackExceptionGroup):
        return _exhausted(failure, model)
    error = classify(failure)
    if error in (REJECTED, FAILED) and isinstance(failure, ai.ModelHTTPError) and failure.status_code < 500:
        return _rejected(failure, model)
    if error is not None:
        return CallFailure(
            status=error.status,
            kind=error.kind,
            code=error.api_code,
            message=error.format(f"The provider of {model}", model),
            run=error.run,
            fix=error.fix,
            retry=error.retry,
            retry_after=failure.retry_after if isinstance(failure, ai.ModelAPIError) else None,
        )
    if isinstance(failure, ai.UserError):
        words = scrub(failure.message)
        return CallFailure(
            status=400, kind="invalid_request_error", code="unsupported", message=words, run="external", fix=_SWITCH
        )
    words = f"{model} failed to answer: {type(failure).__name__}."
    return CallFailure(status=500, kind="server_error", code="server_error", message=words, fix=_AGAIN)


def _exhausted(failure: ai.FallbackExceptionGroup, model: str) -> CallFailure:
    """Why every candidate of a fallback chain failed: the last failure, unless no candidate was available."""
    last = failure.exceptions[-1]
    if not isinstance(last, ai.ModelNotFoundError):
        return explain(last, model)
    return _unavailable(ModelUnavailable(f"None of the provider's models is available for {model}.", _SWITCH))


def _rejected(failure: ai.ModelHTTPError, model: str) -> CallFailure:
    """A request that the provider rejected, in the provider's words if there are any."""
    return CallFailure(
        status=failure.status_code if failure.status_code >= 400 else 502,
        kind=REJECTED.kind,
        code=failure.provider_error_code or REJECTED.api_code,
        message=innermost_cause(failure) or REJECTED.format(f"The provider of {model}"),
        fix=_SWITCH,
    )
