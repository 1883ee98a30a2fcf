"""An assistant over HTTP as a player: anything that speaks the stream contract."""

from __future__ import annotations

import json
import os
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from agent.contract.endings import turn_result
from agent.contract.events import CancelledEvent, CompleteEvent, Ending, ErrorEvent, read_event
from agent.contract.requests import AGENT_HEADER, STREAM_PATH, AssistRequest
from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from evals.attempt import AgentIdentity
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent, AgentFailed, ResultAgent, Unplayable
from evals.scenario import Scenario
from flows.fields.keys import without_keys
from flows.paths import data_folder
from runtime.keychain.access_token import VARIABLE, TokenUnavailable, known_token

SILENCE_SECONDS = 120.0
"""How long to wait for the next event."""

SHOWN = 3
"""Faults of an event that a reason names."""

_ENDINGS = frozenset({"complete", "error", "cancelled"})
"""The events with which a turn ends."""

_NOT_LET_IN = (401, 403)
"""Statuses of a server that wants another token: the agent was not reached."""


class HttpPlayer:
    """Plays over the stream contract of `docs/http-api.md`, with a token as the server of this installation wants it.

    Args:
        url: the address of the server, or of its stream.
        model: `provider:name` to request, or None for the server's configured model.
    """

    def __init__(self, url: str, model: str | None = None) -> None:
        base = url.rstrip("/")
        self.url = base if base.endswith(STREAM_PATH) else f"{base}{STREAM_PATH}"
        self.name = base if model is None else f"{base}#{model}"
        self._model = model

    def prepare(self, _: Scenario, __: PlayEnvironment, /) -> Agent:
        """An agent that asks the server."""

        async def answer(request: TurnRequest) -> TurnResult:
            return await self._answer(request, agent)

        agent = ResultAgent(answer)
        return agent

    async def _answer(self, request: TurnRequest, agent: ResultAgent) -> TurnResult:
        started = perf_counter()
        try:
            import httpx
        except ImportError:
            raise Unplayable("playing over HTTP needs the extra: install wirewright[evals]") from None
        request = request.model_copy(update={"model": self._model})
        body = AssistRequest.of(request).model_dump(mode="json", exclude_none=True)
        last: Ending | None = None
        try:
            async with (
                httpx.AsyncClient(timeout=SILENCE_SECONDS, trust_env=False) as client,
                client.stream("POST", self.url, json=body, headers=authorisation(self.url)) as response,
            ):
                if response.status_code != 200:
                    failure = Unplayable if response.status_code in _NOT_LET_IN else AgentFailed
                    raise failure(f"the server answered {response.status_code}: {await _reason(response)}")
                agent.identity = identity_of(response.headers.get(AGENT_HEADER, "")) or agent.identity
                kind = response.headers.get("content-type", "").partition(";")[0].strip()
                async for line in response.aiter_lines():
                    if line.startswith("data:"):
                        last = _ending(line.removeprefix("data:").strip()) or last
        except httpx.HTTPError as error:
            raise AgentFailed(f"the request failed ({type(error).__name__})") from None
        if last is None:
            raise AgentFailed(
                'the stream ended without a final event: a line `data: {"event": "complete", "data": {…}}` must come'
                + ("" if kind == "text/event-stream" else f" (the content type is {kind or 'not given'})")
            )
        try:
            result = turn_result(request, last)
            return result if result.seconds else result.model_copy(update={"seconds": perf_counter() - started})
        except (KeyError, TypeError, ValueError) as error:
            raise AgentFailed(f"the last event does not fit the contract ({type(error).__name__}: {error})") from None


def _ending(text: str) -> Ending | None:
    """The event with which a turn ends; None for any other, which is for people who watch, whatever it holds.

    Raises:
        AgentFailed: it is no JSON, or it ends the turn and does not fit the contract.
    """
    try:
        event = read_event(text)
    except ValidationError as error:
        try:
            told: object = json.loads(text)
        except ValueError:
            raise AgentFailed(f"an event is not JSON: {without_keys(text)[:60]!r}") from None
        name = told.get("event") if isinstance(told, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  (whatever was sent)
        if name not in _ENDINGS and isinstance(name, str):
            return None
        faults = "; ".join(_fault(each["loc"], each["msg"]) for each in error.errors()[:SHOWN])
        raise AgentFailed(f"the event {name!r} does not fit the contract: {faults}") from None
    return event if isinstance(event, CompleteEvent | ErrorEvent | CancelledEvent) else None


def _fault(place: tuple[int | str, ...], message: str) -> str:
    where = ".".join(str(part) for part in place if part not in _ENDINGS)
    return f"{where}: {message}" if where else message


def identity_of(header: str) -> AgentIdentity | None:
    """What a server says its agent is.

    Args:
        header: `name/version`; the version may be missing.
    """
    name, _, version = header.strip().partition("/")
    return AgentIdentity(name=name.strip()[:200], version=version.strip()[:200]) if name.strip() else None


def authorisation(url: str) -> dict[str, str]:
    """The header with the token: `WIREWRIGHT_TOKEN` for any server, this installation's own for this machine only.

    Args:
        url: the address that is asked.

    Raises:
        Unplayable: the token cannot be read.
    """
    if not os.environ.get(VARIABLE) and urlsplit(url).hostname not in _THIS_MACHINE:
        return {}
    try:
        token = known_token(data_folder())
    except TokenUnavailable as unavailable:
        raise Unplayable(unavailable.message) from None
    return {} if token is None else {"Authorization": f"Bearer {token}"}


_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})


async def _reason(response: Any) -> str:
    text = (await response.aread()).decode("utf-8", "replace")
    try:
        return without_keys(str(json.loads(text)["error"]["message"]))[:200]
    except (ValueError, KeyError, TypeError):
        return without_keys(text)[:200]
