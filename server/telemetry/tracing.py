"""Traces of turns: where they are sent, and whether they hold content."""

import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.trace import Status, StatusCode

from runtime.install.release import release
from runtime.telemetry import context_fields
from runtime.tracing import NoSpan, Span, span

if TYPE_CHECKING:
    from logfire.types import ExceptionCallbackHelper
    from opentelemetry.sdk.trace import SpanProcessor

RECEIVERS = ("LOGFIRE_TOKEN", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""The variables that name who receives traces; logfire reads them itself."""


def _without_words(failing: "ExceptionCallbackHelper") -> None:
    """Keep only the class of a failure: its message and stack may quote messages, keys and paths."""
    kind = type(failing.exception).__name__
    failing.span.set_status(Status(StatusCode.ERROR, kind))
    failing.span.set_attribute("error.type", kind)
    failing.no_record_exception()


def is_traced(environment: Mapping[str, str] | None = None) -> bool:
    """Whether traces have a receiver: a variable names one, or this folder is connected with logfire."""
    environment = os.environ if environment is None else environment
    return any(environment.get(name, "").strip() for name in RECEIVERS) or Path(".logfire").is_dir()


def configure_traces(*, content: bool, processors: Sequence["SpanProcessor"] = (), traced: bool | None = None) -> None:
    """Configure tracing for this process; without a receiver no spans are made.

    Args:
        content: whether spans may hold messages, arguments and results.
        processors: further receivers of spans.
        traced: whether there is a receiver; None finds out.
    """
    wanted = bool(processors) or (is_traced() if traced is None else traced)
    if not wanted and "logfire" not in sys.modules:
        return  # nothing here makes spans then
    import logfire

    logfire.configure(
        send_to_logfire="if-token-present",
        console=False,
        distributed_tracing=True,  # the trace of a request's `traceparent` goes on here
        service_name="wirewright",
        service_version=release(),
        inspect_arguments=False,
        additional_span_processors=list(processors),
        advanced=logfire.AdvancedOptions(exception_callback=None if content else _without_words),
        sampling=None if wanted else logfire.SamplingOptions(head=0.0),
    )
    if wanted:
        logfire.instrument_pydantic_ai(include_content=content, include_binary_content=content)


@contextmanager
def request_span(method: str, headers: Mapping[str, str]) -> Generator[Span]:
    """The span of one request, in the trace that its `traceparent` names; none in a process that traces nothing.

    Args:
        method: the HTTP method.
        headers: the request's headers.
    """
    if sys.modules.get("logfire") is None:
        yield NoSpan()
        return
    from opentelemetry import context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
    token = context.attach(TraceContextTextMapPropagator().extract(carrier))
    try:
        with span("request", **{"http.request.method": method}, **context_fields()) as opened:
            yield opened
    finally:
        context.detach(token)
