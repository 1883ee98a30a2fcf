"""Alive, ready, and the page that says what serves here."""

import re

import pytest

from flows.catalogue import Catalogue
from runtime.results import RunError
from server.routes.health import MESSAGES
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("state", ["new", "installing", "starting", "closed"])
async def test_the_server_lives_but_is_not_ready_while_the_runner_is_not(state: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, runner=StandInRunner(state=state))) as live:
        assert (await live.client.get("/healthz")).status_code == 200
        reply = await live.client.get("/readyz")
    facts = {"ready": False, "runner": state, "message": MESSAGES[state], "database": "ready"}
    assert (reply.status_code, reply.json()) == (503, facts)


async def test_the_server_is_ready_when_flows_can_run(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.get("/readyz")
    assert (reply.status_code, reply.json()["ready"]) == (200, True)


async def test_a_runner_that_failed_says_why_and_what_to_do(catalogue: Catalogue) -> None:
    failure = RunError(code="crash", message="It could not be installed.", fix="wirewright runner install")
    async with serving(assistant(catalogue, runner=StandInRunner(state="failed", failure=failure))) as live:
        reply = await live.client.get("/readyz")
    assert reply.status_code == 503
    assert (reply.json()["message"], reply.json()["fix"]) == (failure.message, failure.fix)


async def test_the_page_shows_a_command_for_the_address_it_was_asked_at(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.get("/", headers={"Host": "localhost:4711"})
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "curl -N http://localhost:4711/api/v1/agentic/assist/stream" in reply.text
    assert not re.search(r"<script|https?://(?!localhost:4711)", reply.text), "nothing is loaded from anywhere"
