"""Traces as a collector receives them: OTLP over HTTP, from a server that is a process of its own."""

import gzip
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from flows.document import JsonObject
from runtime.install.release import release
from tests.server.live import ASSIST
from tests.server.telemetry.traced import WORDS
from tests.server.test_serve import program, signed_in

pytestmark = pytest.mark.anyio
TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"
SERVER = ("-m", "tests.server.telemetry.traced")


class Collector:
    """What was received."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.connections: list[str] = []
        """The first line of every request, whatever it was."""
        self.raw = b""
        self.url = ""

    @property
    def spans(self) -> list[Span]:
        """The finished spans."""
        found = [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        return [span for span in found if attributes(span).get("logfire.span_type") != "pending_span"]


def attributes(span: Span) -> dict[str, str]:
    """The attributes of a span that are texts."""
    return {each.key: each.value.string_value for each in span.attributes}


@contextmanager
def collecting() -> Generator[Collector]:
    """A collector on loopback, which also notes whatever else is sent to it."""
    collector = Collector()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.connections.append(self.requestline)
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if self.path == "/v1/traces":
                assert self.headers["Content-Type"] == "application/x-protobuf"
                collector.raw += body
                collector.requests.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.end_headers()
            self.wfile.write(ExportTraceServiceResponse().SerializeToString())

        def do_CONNECT(self) -> None:
            collector.connections.append(self.requestline)
            self.send_error(502)

        do_GET = do_CONNECT  # noqa: N815  (names of the base class)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        collector.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


async def turn(python: Path, echo: JsonObject, **headers: str) -> httpx.Response:
    """The answer of a server that has ended since."""
    async with program(python, *SERVER) as (process, base), signed_in(base, 60) as client:
        asked = {"input_value": f"Run it with {WORDS}", "flow": echo, "session_id": "s"}
        reply = await client.post(ASSIST, json=asked, headers=headers)
        assert reply.status_code == 200, reply.text
        process.send_signal(signal.SIGTERM)
        with anyio.fail_after(60):
            assert await process.wait() == 0
    return reply


async def test_a_request_is_one_trace_down_to_its_runs_and_goes_on_with_that_of_its_caller(
    python_command: Path, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        reply = await turn(python_command, echo, traceparent=f"00-{TRACE}-{CALLER}-01")
    assert reply.headers["X-Request-ID"] == TRACE
    spans = {span.span_id: span for span in collector.spans}
    [request] = [span for span in spans.values() if span.name == "request"]
    ours = {name: span for name, span in spans.items() if span.trace_id.hex() == TRACE}
    assert request.span_id in ours
    assert request.parent_span_id.hex() == CALLER

    def above(span: Span) -> list[str]:
        found: list[str] = []
        while span.parent_span_id in ours:
            span = ours[span.parent_span_id]
            found.append(span.name)
        return found

    [the_turn] = [span for span in ours.values() if span.name == "turn"]
    assert above(the_turn) == ["request"]
    [run] = [span for span in ours.values() if span.name == "run"]
    first, *others = above(run)
    assert "run_flow" in first
    assert others[-2:] == ["turn", "request"]
    models = [span for span in ours.values() if attributes(span).get("gen_ai.operation.name") == "chat"]
    assert len(models) >= 3, "the classification, the call of the tool, and the answer"
    assert all(above(span)[-2:] == ["turn", "request"] for span in models)
    for span in (request, the_turn):
        assert attributes(span)["request_id"] == TRACE
    assert attributes(the_turn)["turn_id"]
    assert attributes(request)["http.route"] == ASSIST
    [resource] = {
        (each.key, each.value.string_value)
        for received in collector.requests
        for one in received.resource_spans
        for each in one.resource.attributes
        if each.key == "service.version"
    }
    assert resource == ("service.version", release())
    assert WORDS.encode() not in collector.raw, "content needs consent"


async def test_a_request_without_a_trace_begins_one(
    python_command: Path, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        await turn(python_command, echo)
    [request] = [span for span in collector.spans if span.name == "request"]
    assert not request.parent_span_id
    [run] = [span for span in collector.spans if span.name == "run"]
    assert run.trace_id == request.trace_id


async def test_nothing_is_sent_anywhere_unless_it_is_configured(
    python_command: Path, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as collector:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, collector.url)  # whatever is sent passes there
        monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
        await turn(python_command, echo)
    assert collector.connections == []
