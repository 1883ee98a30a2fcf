"""The language models over HTTP: which there are, which is the default, and whether they answer."""

from __future__ import annotations

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import ContractModel, Received
from agent.models.clients import Clients
from agent.models.overview import ModelTest, Overview, models_to_test, overview, try_models
from agent.models.providers import PROVIDERS
from server.access.caller import Caller, caller_of
from server.json_response import JsonResponse
from server.limits.admission import admit_turn
from server.requests.body import read_object, validated
from server.requests.operation import operation

PATH = "/api/v1/models"

TESTED = 20
"""Models of one test."""


class TestRequest(ContractModel):
    """Names the models to test.

    Attributes:
        models: as `provider:name`; a provider alone is its newest model. None: the default, and one of each provider
            that is configured.
    """

    __test__ = False  # it is no test

    models: list[str] = Field(default_factory=list[str], max_length=TESTED)


class TestReply(Received):
    """Which models answered.

    Attributes:
        ok: whether at least one was tested, and all answered.
        models: how each did.
    """

    __test__ = False  # it is no test

    ok: bool
    models: list[ModelTest]


@operation(Overview)
async def every(request: Request) -> Response:
    """Every provider, whether it is configured and why, and the model of turns that name none."""
    return JsonResponse(await _overview(caller_of(request)))


@operation(TestReply, body=TestRequest, body_optional=True)
async def test(request: Request) -> Response:
    """Send each model one tiny real request, and say which answer; it counts among the turns that go on."""
    caller = caller_of(request)
    document = await read_object(request, caller.settings.body_limit, optional=True)
    asked = validated(TestRequest, document)
    admission = await admit_turn(caller)
    try:
        found = await _overview(caller)
        unusable = [caller.settings.model] if caller.settings.model and found.error is not None else []
        names = list(dict.fromkeys(asked.models or [*unusable, *models_to_test(found)]))
        keys = await caller.keys.read()
        clients = Clients(keys.environment)
        try:
            tests = await try_models(names, clients, keys.environment())
        finally:
            await clients.aclose()
    finally:
        admission.slot.release()
    return JsonResponse(TestReply(ok=bool(tests) and all(one.ok for one in tests), models=tests))


async def _overview(caller: Caller) -> Overview:
    keys = await caller.keys.read()
    return overview(caller.settings.model, keys.environment(), {name: keys.stored(name) for name in PROVIDERS})


routes = [
    Route(PATH, every, methods=["GET"]),
    Route(f"{PATH}/test", test, methods=["POST"]),
]
