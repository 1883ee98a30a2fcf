"""The gateway's endpoints: they check keys, read requests, call models, and write answers and failures."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import anyio
from pydantic import ValidationError
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.embeddings import EmbeddingSettings
from pydantic_ai.models import Model, StreamedResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from runtime.gateway.accounts import RunAccount
from runtime.gateway.decoding import messages_of, parameters_of, settings_of
from runtime.gateway.encoding import DONE, Chunks, completion, embeddings, frame, model_list
from runtime.gateway.errors import CallFailure, CallRefused, explain, invalid
from runtime.gateway.models import ModelUnavailable
from runtime.gateway.requests import ChatRequest, EmbeddingsRequest
from runtime.web.body import READ_SECONDS, BodyRefused, pieces

MAX_BODY = 16 * 1024 * 1024
"""Bytes of the largest request that is read."""

FindAccount = Callable[[str], tuple[RunAccount, "str | None"]]
"""From a key to its account and the node that calls; raises `CallRefused` for an unknown key."""

_Body = TypeVar("_Body", ChatRequest, EmbeddingsRequest)


@dataclass(frozen=True)
class _Call:
    """A call of the model `name`, with the account and the node that it belongs to."""

    account: RunAccount
    node: str | None
    name: str
    receive: Receive

    def refusal(self, error: Exception) -> CallRefused:
        """Record why the call failed, and return what its client gets."""
        failure = explain(error, self.name)
        self.account.fail(self.node, failure)
        return CallRefused(failure)

    def model(self) -> Model:
        """The model that answers.

        Raises:
            CallRefused: it is not available.
        """
        try:
            return self.account.model(self.name)
        except Exception as error:  # whatever a provider's client raises when it is created
            raise self.refusal(error) from error

    @asynccontextmanager
    async def active(self) -> AsyncGenerator[None]:
        """Wait for a model: within the budget, and while the run lasts and the client listens.

        Raises:
            CallRefused: whatever failed.
        """
        watch: asyncio.Task[None] | None = None
        disconnected = asyncio.Event()
        try:
            async with self.account.call() as scope:
                watch = asyncio.create_task(_cancel_on_disconnect(self.receive, scope, disconnected))
                yield
        except Exception as error:  # every failure of a call is reported to its client
            if disconnected.is_set():
                raise CallRefused(explain(error, self.name)) from error
            raise self.refusal(error) from error
        finally:
            if watch is not None:
                watch.cancel()


async def _cancel_on_disconnect(receive: Receive, scope: anyio.CancelScope, disconnected: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    disconnected.set()
    scope.cancel()


def gateway_app(find: FindAccount) -> Starlette:
    """The endpoints for the accounts that `find` finds."""

    def authenticate(request: Request) -> tuple[RunAccount, str | None]:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        return find(key.strip() if scheme.lower() == "bearer" else "")

    async def read(request: Request, kind: type[_Body]) -> tuple[_Call, _Body]:
        account, node = authenticate(request)
        wire = await _read(request, kind)
        call = _Call(account, node, wire.model, request.receive)
        if wire.model not in account.allowed_models:
            raise call.refusal(ModelUnavailable(f"This flow does not use model {wire.model!r}."))
        return call, wire

    async def chat(request: Request) -> Response:
        call, wire = await read(request, ChatRequest)
        model = call.model()
        if wire.stream:
            return _Stream(call, wire, model)
        history, parameters = messages_of(wire.messages), parameters_of(wire, model)
        async with call.active():
            response = await call.account.patiently(
                call.node,
                lambda: model_request(
                    model, history, model_settings=settings_of(wire), model_request_parameters=parameters
                ),
            )
            call.account.add_usage(call.node, response)
        return JSONResponse(completion(response, wire.model))

    async def embed(request: Request) -> Response:
        call, wire = await read(request, EmbeddingsRequest)
        async with call.active():
            model = call.account.embedding(wire.model)
            size = EmbeddingSettings() if wire.dimensions is None else EmbeddingSettings(dimensions=wire.dimensions)
            result = await call.account.patiently(
                call.node, lambda: model.embed(wire.input, input_type="document", settings=size)
            )
            call.account.add_usage(call.node, result)
        return JSONResponse(embeddings(result, wire.model, encoded=wire.encoding_format == "base64"))

    async def models(request: Request) -> Response:
        account, _ = authenticate(request)
        return JSONResponse(model_list(sorted(account.allowed_models)))

    async def unknown(request: Request) -> Response:
        raise invalid(f"There is no {request.method} {request.url.path} here.", status=404, code="not_found")

    return Starlette(
        routes=[
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/embeddings", embed, methods=["POST"]),
            Route("/v1/models", models),
            Route("/{path:path}", unknown, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
        ],
        exception_handlers={CallRefused: _refused},
    )


def _refused(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, CallRefused)  # noqa: S101 - registered for it
    return _error_response(refusal.failure)


def _error_response(failure: CallFailure) -> Response:
    return JSONResponse(failure.body(), failure.status, dict(failure.headers()))


async def _read(request: Request, kind: type[_Body]) -> _Body:
    """The request's body; one that is too slow, too large or malformed is refused."""
    body = bytearray()
    try:
        async for piece in pieces(request, MAX_BODY, READ_SECONDS):
            body += piece
    except BodyRefused as refused:
        raise invalid(refused.message, status=refused.status, code=refused.code, closes=refused.closes) from None
    try:
        return kind.model_validate_json(bytes(body))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "body"
        raise invalid(f"{place}: {first['msg']}.") from None


class _Stream(Response):
    """A streamed answer; a failure before its first chunk is an ordinary error response."""

    def __init__(self, call: _Call, wire: ChatRequest, model: Model) -> None:
        super().__init__()
        self._call = call
        self._wire = wire
        self._history = messages_of(wire.messages)
        self._parameters = parameters_of(wire, model)
        self._model = model

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False
        try:
            async with self._call.active():
                async for data in self._frames():
                    if not started:
                        head = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
                        await send({"type": "http.response.start", "status": 200, "headers": head})
                        started = True
                    await send({"type": "http.response.body", "body": data, "more_body": True})
        except CallRefused as refusal:
            if not started:
                await _error_response(refusal.failure)(scope, receive, send)
                return
            await send({"type": "http.response.body", "body": frame(refusal.failure.body()), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _open(self) -> AbstractAsyncContextManager[StreamedResponse]:
        return model_request_stream(
            self._model,
            self._history,
            model_settings=settings_of(self._wire),
            model_request_parameters=self._parameters,
        )

    async def _frames(self) -> AsyncGenerator[bytes]:
        chunks = Chunks(self._wire.model)
        async with AsyncExitStack() as stack:
            call = self._call
            stream = await call.account.patiently(call.node, lambda: stack.enter_async_context(self._open()))
            contents = await stack.enter_async_context(contextlib.aclosing(chunks.of(stream)))
            async for chunk in contents:
                yield frame(chunk)
            response = stream.get()
        self._call.account.add_usage(self._call.node, response)
        for chunk in chunks.rest(response, include_usage=self._wire.include_usage):
            yield frame(chunk)
        yield DONE
