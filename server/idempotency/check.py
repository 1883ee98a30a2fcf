"""The check of every POST route: a request that names a key is answered once, and its repetitions alike."""

from __future__ import annotations

import re
from typing import Final
from uuid import uuid4

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.contract.requests import TURN_HEADER
from server.errors import ApiError
from server.idempotency.answers import LIMIT, STREAM, Answer, header_of
from server.idempotency.fingerprint import Fingerprint, UnreadBody
from server.idempotency.keys import IdempotencyKeys, TooManyKeys
from server.idempotency.known import KnownKey, State
from server.json_response import SHOWN_ONCE

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
"""Says that an answer is the one of an earlier request."""

RELEASE_SECONDS: Final = 10.0
"""How long giving a key back may take when a request was cancelled."""

_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")


class IdempotencyCheck:
    """ASGI wrapper of one route. A request without a key passes untouched.

    An answer below 400 is kept for a day before it is sent, unless it has a token (`SHOWN_ONCE`); any other one has
    made nothing, and its key can be used again. Of a stream only its beginning is kept: a repetition is told which turn
    it has begun.

    Args:
        app: the route's application, which knows the user.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request.

        Raises:
            ApiError: 400 the key cannot be used, 409 the first request still runs, or its answer is not there, 422 it
                was used for another request, 429 too many keys.
            StoreUnavailable: the key cannot be read or kept.
        """
        given = Headers(scope=scope).getlist(HEADER) if scope["method"] == "POST" else []
        if not given:
            await self._app(scope, receive, send)
            return
        if len(given) != 1 or _KEY.fullmatch(given[0]) is None:
            fix = "Send one key of 1 to 255 visible ASCII characters, such as a UUID."
            raise ApiError(400, "invalid_idempotency_key", f"The header {HEADER} is not a key.", fix, HEADER)
        request, key = Request(scope), given[0]
        keys: IdempotencyKeys = request.app.state.idempotency
        user: str = request.user.id
        try:
            known = await keys.begin(user, key)
        except TooManyKeys as full:
            fix, headers = f"Wait {full.seconds} s, or send requests without a key.", {"Retry-After": str(full.seconds)}
            raise ApiError(429, "too_many_keys", "You have used too many keys today.", fix, HEADER, headers) from None
        read = Fingerprint(scope, receive)
        if known is None:
            await _First(keys, user, key, read, send).answer(self._app, scope)
        else:
            await (await _repeated(known, read))(scope, receive, send)


async def _repeated(known: KnownKey, read: Fingerprint) -> Response:
    """The answer to a request whose key was used before.

    Raises:
        ApiError: it was used for another request, or there is no answer to repeat.
    """
    if known.state == "running":
        fix = "Wait for its answer. If there will be none, look whether it was done, and use another key."
        raise ApiError(409, "request_in_progress", "The request with this key is still being worked on.", fix, HEADER)
    try:
        same = await read.finished() == known.fingerprint
    except UnreadBody:
        raise ApiError(408, "too_slow", "The body did not arrive completely.", "Send it again.") from None
    if not same:
        fix = "Use a new key for each request; repeat a key only with the same body."
        raise ApiError(422, "idempotency_key_reused", "This key was used for another request.", fix, HEADER)
    if known.state == "streamed":
        fix = "Read what it did, from the conversation or the list of runs."
        message = f"The request with this key has begun {known.answer}, which was streamed."
        raise ApiError(409, "already_streamed", message, fix, HEADER, {TURN_HEADER: known.answer})
    if known.state == "not_kept":
        fix = "Look at what it made; use a new key to do it again."
        raise ApiError(
            409,
            "answer_not_kept",
            "It was done, but its answer is not kept: it has a token, or is too large.",
            fix,
            HEADER,
        )
    answer = Answer.from_text(known.answer)
    return Response(answer.body, answer.status, {**dict(answer.headers), REPLAYED: "true"})


def _is_shown_once(start: Message) -> bool:
    """Whether an answer holds what nobody is shown again, such as a token."""
    return all(header_of(start, name) == value for name, value in SHOWN_ONCE.items())


class _First:
    """The first request with a key: its answer is kept before it is sent."""

    def __init__(self, keys: IdempotencyKeys, user: str, key: str, read: Fingerprint, send: Send) -> None:
        self._keys, self._user, self._key, self._read, self._to = keys, user, key, read, send
        self._start: Message | None = None
        self._body = bytearray()
        self._passes = False
        """Whether messages are sent on as they come."""
        self._kept = False

    async def answer(self, app: ASGIApp, scope: Scope) -> None:
        """Have the route answer, and keep what it says."""
        try:
            await app(scope, self._read.receive, self._send)
        finally:
            if not self._kept:
                with anyio.move_on_after(RELEASE_SECONDS, shield=True):
                    await self._keys.release(self._user, self._key)

    async def _send(self, message: Message) -> None:
        if self._passes:
            await self._to(message)
        elif message["type"] == "http.response.start":
            self._start = message
            if message["status"] >= 400:
                await self._pass_on()
            elif header_of(message, "content-type").startswith(STREAM):
                turn = header_of(message, TURN_HEADER)
                if not turn:
                    turn = str(uuid4())
                    MutableHeaders(scope=message)[TURN_HEADER] = turn
                await self._keep("streamed", turn)
                await self._pass_on()
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if len(self._body) > LIMIT or _is_shown_once(self._start):
                await self._keep("not_kept")
                await self._pass_on(more=message.get("more_body", False))
            elif not message.get("more_body", False):
                await self._keep("answered", Answer.of(self._start, bytes(self._body)).to_text())
                await self._pass_on(more=False)

    async def _keep(self, state: State, answer: str = "") -> None:
        try:
            fingerprint = await self._read.finished()
        except UnreadBody:
            fingerprint = ""  # equal to none, so that its key can be used for nothing else
        with anyio.CancelScope(shield=True):  # what was made must not be made again
            self._kept = True
            await self._keys.finish(self._user, self._key, state, fingerprint, answer)

    async def _pass_on(self, *, more: bool | None = None) -> None:
        """Send on what was held back.

        Args:
            more: whether more of the body follows; None when none of it was held back.
        """
        self._passes = True
        if self._start is not None:
            await self._to(self._start)
        if more is not None:
            await self._to({"type": "http.response.body", "body": bytes(self._body), "more_body": more})
