"""The endpoint: keys checked, requests read, models asked, answers and failures written."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import anyio
from pydantic import BaseModel, ValidationError
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.embeddings import EmbeddingSettings
from pydantic_ai.models import Model
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from runtime.gateway.accounts import RunAccount, RunAccounts
from runtime.gateway.decoding import messages_of, parameters_of, settings_of
from runtime.gateway.encoding import DONE, Chunks, completion, embeddings, frame, listed
from runtime.gateway.errors import CallFailure, CallRefused, explain, invalid
from runtime.gateway.models import ModelUnavailable
from runtime.gateway.requests import ChatRequest, EmbeddingsRequest

MAX_BODY = 16 * 1024 * 1024
"""Bytes of the largest request that is read."""

_Body = TypeVar("_Body", bound=BaseModel)
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Call:
    """One request of one node, and whose it is."""

    account: RunAccount
    node: str | None
    receive: Receive
    model: str = ""

    @asynccontextmanager
    async def answered(self) -> AsyncGenerator[None]:
        """Wait for a model: within the budget, as long as the run lasts and the client listens.

        Raises:
            CallRefused: with what to tell the client, whatever failed.
        """
        watch: asyncio.Task[None] | None = None
        gone: list[bool] = []
        try:
            async with self.account.call() as scope:
                watch = asyncio.create_task(_until_gone(self.receive, scope, gone))
                yield
        except Exception as failure:  # the boundary of a call: every failure is told to its client
            said = explain(failure, self.model)
            if not gone:
                self.account.fail(self.node, said)
            if not isinstance(failure, CallRefused | ModelUnavailable):
                logger.debug("A model call of a flow failed: %s", type(failure).__name__)
            raise CallRefused(said) from failure
        finally:
            if watch is not None:
                watch.cancel()


async def _until_gone(receive: Receive, scope: anyio.CancelScope, gone: list[bool]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.append(True)
    scope.cancel()


def gateway_app(accounts: RunAccounts) -> Starlette:
    """The endpoint for these runs."""

    def whose(request: Request) -> tuple[RunAccount, str | None]:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        return accounts.find(key.strip() if scheme.lower() == "bearer" else "")

    async def chat(request: Request) -> Response:
        account, node = whose(request)
        wire = await _read(request, ChatRequest)
        call = _Call(account, node, request.receive, wire.model)
        model = _resolved(call)
        if wire.stream:
            return _Stream(call, wire, model)
        history, parameters = messages_of(wire.messages), parameters_of(wire, model)
        async with call.answered():
            response = await model_request(
                model, history, model_settings=settings_of(wire), model_request_parameters=parameters
            )
            account.spend(node, response.usage)
        return JSONResponse(completion(response, wire.model))

    async def embed(request: Request) -> Response:
        account, node = whose(request)
        wire = await _read(request, EmbeddingsRequest)
        call = _Call(account, node, request.receive, wire.model)
        _known(call)
        async with call.answered():
            model = account.embedding(wire.model)
            size = EmbeddingSettings() if wire.dimensions is None else EmbeddingSettings(dimensions=wire.dimensions)
            result = await model.embed(wire.input, input_type="document", settings=size)
            account.spend(node, result.usage)
        return JSONResponse(embeddings(result, wire.model, encoded=wire.encoding_format == "base64"))

    async def models(request: Request) -> Response:
        account, _ = whose(request)
        return JSONResponse(listed(sorted(account.names)))

    async def anything(request: Request) -> Response:
        raise invalid(f"There is no {request.method} {request.url.path} here.", status=404, code="not_found")

    return Starlette(
        routes=[
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/embeddings", embed, methods=["POST"]),
            Route("/v1/models", models),
            Route("/{path:path}", anything, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
        ],
        exception_handlers={CallRefused: _refused},
    )


def _refused(_: Request, failure: Exception) -> Response:
    assert isinstance(failure, CallRefused)  # noqa: S101 - registered for it
    return _failed(failure.failure)


def _failed(failure: CallFailure) -> Response:
    return JSONResponse(failure.body(), failure.status, dict(failure.headers()))


def _known(call: _Call) -> None:
    """Refuse a name that the run's flow does not hold: its keys open no other models."""
    if call.model not in call.account.names:
        failure = explain(ModelUnavailable(f"The flow that runs does not name a model {call.model!r}."), call.model)
        call.account.fail(call.node, failure)
        raise CallRefused(failure)


def _resolved(call: _Call) -> Model:
    _known(call)
    try:
        return call.account.model(call.model)
    except Exception as failure:  # whatever a provider's client raises when it is made
        said = explain(failure, call.model)
        call.account.fail(call.node, said)
        raise CallRefused(said) from failure


async def _read(request: Request, kind: type[_Body]) -> _Body:
    """The request's body; the endless and the unreadable are refused."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY:
            raise invalid(f"A request may take {MAX_BODY // 1024**2} MB at most.", status=413, code="too_large")
    try:
        return kind.model_validate_json(bytes(body))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "body"
        raise invalid(f"{place}: {first['msg']}.") from None


class _Stream(Response):
    """An answer as it is written; what fails before its first word is an ordinary error."""

    def __init__(self, call: _Call, wire: ChatRequest, model: Model) -> None:
        super().__init__()
        self._call = call
        self._wire = wire
        self._history = messages_of(wire.messages)
        self._parameters = parameters_of(wire, model)
        self._model = model

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False
        try:
            async with self._call.answered():
                async for data in self._frames():
                    if not begun:
                        head = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
                        await send({"type": "http.response.start", "status": 200, "headers": head})
                        begun = True
                    await send({"type": "http.response.body", "body": data, "more_body": True})
        except CallRefused as refused:
            if not begun:
                await _failed(refused.failure)(scope, receive, send)
                return
            await send({"type": "http.response.body", "body": frame(refused.failure.body()), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _frames(self) -> AsyncGenerator[bytes]:
        chunks = Chunks(self._wire.model)
        async with (
            model_request_stream(
                self._model,
                self._history,
                model_settings=settings_of(self._wire),
                model_request_parameters=self._parameters,
            ) as stream,
            contextlib.aclosing(chunks.of(stream)) as written,
        ):
            first = True
            async for chunk in written:
                if first:
                    yield frame(chunks.first())
                    first = False
                yield frame(chunk)
            response = stream.get()
        self._call.account.spend(self._call.node, response.usage)
        if first:
            yield frame(chunks.first())
        yield frame(chunks.last(response))
        if self._wire.stream_options is not None and self._wire.stream_options.include_usage:
            yield frame(chunks.usage(response))
        yield DONE
