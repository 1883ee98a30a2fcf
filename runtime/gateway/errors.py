"""Failures of model calls: every exception gets the HTTP status and code of its class, and a `RunError` to match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic_ai import exceptions as ai

from flows.document import JsonObject
from runtime.failures import scrub
from runtime.gateway.models import ModelUnavailable
from runtime.results import RunError, RunErrorCode


@dataclass(frozen=True, kw_only=True)
class CallFailure:
    """Why a call got no answer: what the client in the flow reads, and what the run's result says.

    Attributes:
        status: the HTTP status, from which the client's SDK chooses its exception.
        kind: OpenAI's `type` of error.
        code: OpenAI's `code` of error.
        message: what happened, in words for the user.
        run: the code that a run that fails because of it gets.
        fix: what to do about it.
        retry: whether the client may try again on its own.
        retry_after: seconds that the provider asked to wait.
    """

    status: int
    kind: str
    code: str
    message: str
    run: RunErrorCode = "external"
    fix: str = ""
    retry: bool = False
    retry_after: float | None = None

    def body(self) -> JsonObject:
        """The body that OpenAI would send."""
        return {"error": {"message": self.message, "type": self.kind, "param": None, "code": self.code}}

    def headers(self) -> Mapping[str, str]:
        """Tells the SDK whether to try again, whatever it would think of the status."""
        wait = {} if self.retry_after is None else {"retry-after": f"{self.retry_after:g}"}
        return {"x-should-retry": "true" if self.retry else "false", **wait}

    def error(self, node: str | None) -> RunError:
        """What a run that fails because of it says."""
        return RunError(code=self.run, message=self.message, fix=self.fix, node=node)


class CallRefused(Exception):
    """The gateway itself refuses a call."""

    def __init__(self, failure: CallFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


_SWITCH = "Choose another model in the node."
_AGAIN = "Try again."

UNKNOWN_KEY = CallFailure(
    status=401,
    kind="authentication_error",
    code="invalid_api_key",
    message="The key is not one of a run that is under way.",
    run="missing_key",
)


def invalid(message: str, *, status: int = 400, code: str = "invalid_request") -> CallRefused:
    """The refusal of a request that cannot be served as it is."""
    failure = CallFailure(status=status, kind="invalid_request_error", code=code, message=message, run="code")
    return CallRefused(failure)


def over_budget(message: str) -> CallRefused:
    """The refusal of a call for which the run has no budget left."""
    fix = "Let the flow call its models less often, or with less text."
    failure = CallFailure(
        status=429, kind="run_budget", code="run_budget_exceeded", message=message, run="limit", fix=fix
    )
    return CallRefused(failure)


def not_had(missing: ModelUnavailable) -> CallFailure:
    """The failure of a call to a model that cannot be had."""
    if missing.code == "missing_key":
        status, kind, code = 401, "authentication_error", "invalid_api_key"
    else:
        status, kind, code = 404, "invalid_request_error", "model_not_found"
    return CallFailure(
        status=status, kind=kind, code=code, message=missing.message, run=missing.code, fix=missing.fix or _SWITCH
    )


@dataclass(frozen=True)
class _Kind:
    """How a class of exceptions is said."""

    raised: type[Exception]
    status: int
    kind: str
    code: str
    words: str
    run: RunErrorCode = "external"
    fix: str = _AGAIN
    retry: bool = False


_KINDS = (
    _Kind(
        ai.ModelAuthenticationError,
        401,
        "authentication_error",
        "invalid_api_key",
        "The provider of {model} refused its key.",
        "missing_key",
        "Check the provider's key.",
    ),
    _Kind(
        ai.ModelQuotaExceededError,
        429,
        "insufficient_quota",
        "insufficient_quota",
        "The provider of {model} says that the quota is used up.",
        fix="Check plan and billing.",
    ),
    _Kind(
        ai.ModelRateLimitError,
        429,
        "requests",
        "rate_limit_exceeded",
        "The provider of {model} limits its rate.",
        fix="Wait a moment and try again.",
        retry=True,
    ),
    _Kind(
        ai.ModelContextWindowExceededError,
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "The request is too long for {model}.",
        "limit",
        "Give the model less text.",
    ),
    _Kind(
        ai.ModelNotFoundError,
        404,
        "invalid_request_error",
        "model_not_found",
        "The provider does not have {model}.",
        "missing_model",
        _SWITCH,
    ),
    _Kind(ai.ModelTimeoutError, 504, "server_error", "timeout", "{model} did not answer in time."),
    _Kind(ai.ModelRequestTimeout, 504, "server_error", "timeout", "{model} did not answer in time."),
    _Kind(
        ai.ModelConnectionError,
        502,
        "server_error",
        "connection_error",
        "The provider of {model} could not be reached.",
        fix="Check the network.",
        retry=True,
    ),
    _Kind(
        ai.ModelUnavailableError,
        503,
        "server_error",
        "overloaded",
        "The provider of {model} is overloaded.",
        fix="Wait a moment and try again.",
        retry=True,
    ),
    _Kind(ai.ModelServerError, 502, "server_error", "server_error", "The provider of {model} failed.", retry=True),
    _Kind(
        ai.ContentFilterError,
        400,
        "invalid_request_error",
        "content_filter",
        "The provider of {model} refused the content.",
        fix="Change what the model is asked.",
    ),
    _Kind(ai.UnexpectedModelBehavior, 502, "server_error", "server_error", "{model} did not answer in a usable way."),
)


def explain(failure: Exception, model: str) -> CallFailure:
    """What to say about a call that failed.

    Args:
        failure: what was raised.
        model: the name that the flow asked for.
    """
    if isinstance(failure, CallRefused):
        return failure.failure
    if isinstance(failure, ModelUnavailable):
        return not_had(failure)
    if isinstance(failure, ai.FallbackExceptionGroup):
        return _exhausted(failure, model)
    for kind in _KINDS:
        if isinstance(failure, kind.raised):
            return CallFailure(
                status=kind.status,
                kind=kind.kind,
                code=kind.code,
                message=kind.words.format(model=model),
                run=kind.run,
                fix=kind.fix,
                retry=kind.retry,
                retry_after=failure.retry_after if isinstance(failure, ai.ModelAPIError) else None,
            )
    if isinstance(failure, ai.ModelHTTPError):
        return _rejected(failure, model)
    if isinstance(failure, ai.UserError):
        words = scrub(failure.message)
        return CallFailure(
            status=400, kind="invalid_request_error", code="unsupported", message=words, run="external", fix=_SWITCH
        )
    words = f"{model} failed to answer: {type(failure).__name__}."
    return CallFailure(status=500, kind="server_error", code="server_error", message=words, fix=_AGAIN)


def _exhausted(failure: ai.FallbackExceptionGroup, model: str) -> CallFailure:
    """Every candidate of a chain failed: the last one speaks, unless none was to be had."""
    last = failure.exceptions[-1]
    if not isinstance(last, ai.ModelNotFoundError):
        return explain(last, model)
    return not_had(ModelUnavailable(f"None of the provider's models could be had for {model}.", _SWITCH))


def _rejected(failure: ai.ModelHTTPError, model: str) -> CallFailure:
    """A provider's refusal, in its own words where it gave any: they say what is wrong with the request."""
    body = failure.body
    detail = body.get("error", body) if isinstance(body, dict) else {}  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  (whatever was received)
    said = detail.get("message") if isinstance(detail, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  (whatever was received)
    words = scrub(said) if isinstance(said, str) and said else f"The provider of {model} rejected the request."
    client = 400 <= failure.status_code < 500
    return CallFailure(
        status=failure.status_code if client else 502,
        kind="invalid_request_error" if client else "server_error",
        code=failure.provider_error_code or ("invalid_request" if client else "server_error"),
        message=words,
        fix=_SWITCH if client else _AGAIN,
        retry=not client,
    )
