"""The saved tests of a stored flow over HTTP: read, replaced, and run on the engine."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from pydantic import Field
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import ContractModel, Received
from flows.document import Flow, JsonObject
from runtime.files.names import FileRefused
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.usage.runs import usage_of_run
from server.access.caller import Caller, caller_of
from server.errors import ApiError, not_ready
from server.flow_tests.kept import keep_tests, read_tests
from server.flow_tests.tester import FlowTester, InvalidTests, TestedCase
from server.json_response import JsonResponse
from server.limits.admission import admit_run
from server.requests.body import read_object, validated
from server.requests.disconnect import TimeIsOver, while_connected
from server.requests.multipart import refusal
from server.requests.operation import operation
from server.routes.flows.stale import known_components
from server.routes.flows.stored import PATH
from tools.workbench import FlowRunner, wait_for_runner

READY_SECONDS = 30.0
"""How long tests wait for a runner that is still starting."""

MANY = 100
"""Tests of a flow."""


class FlowTests(ContractModel):
    """The tests of a flow, as docs/flow-tests.md has them.

    Attributes:
        tests: inputs, and what each must give.
        models: the answers of the models inside the flow; empty to have the configured models answer.
    """

    tests: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]], max_length=MANY)
    models: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]], max_length=MANY)


class FlowTestsReply(Received):
    """The tests of a flow; `models` are the answers of the models inside it."""

    tests: list[dict[str, Any]]
    models: list[dict[str, Any]]


class TestedFlowReply(Received):
    """What became of the tests of a flow.

    Attributes:
        ok: whether all passed.
        tests: what became of each, in their order.
    """

    __test__ = False  # it is no test

    ok: bool
    tests: list[TestedCase]


class Tests(HTTPEndpoint):
    """The tests of one flow."""

    @operation(FlowTestsReply)
    async def get(self, request: Request) -> Response:
        """The tests that are kept; none is an empty list."""
        caller, flow_id = caller_of(request), request.path_params["flow_id"]
        await (await caller.flows()).get(flow_id)
        return JsonResponse(_reply(await _kept(caller, flow_id)))

    @operation(FlowTestsReply, body=FlowTests)
    async def put(self, request: Request) -> Response:
        """Keep these in place of those before; an empty list removes them."""
        caller, flow_id = caller_of(request), request.path_params["flow_id"]
        asked = validated(FlowTests, await read_object(request, caller.settings.body_limit))
        await (await caller.flows()).get(flow_id)
        tests = cast("JsonObject", asked.model_dump(exclude_defaults=True))
        if asked.tests:
            _checked(caller, tests)
        try:
            await asyncio.to_thread(keep_tests, caller.files, flow_id, tests)
        except FileRefused as refused:
            raise refusal(refused) from None
        return JsonResponse(_reply(tests))


@operation(TestedFlowReply, errors=(409, 429, 504), body_optional=True)
async def run_tests(request: Request) -> Response:
    """Run the tests that are kept, one after the other; together they take one place among the user's runs."""
    caller, flow_id = caller_of(request), request.path_params["flow_id"]
    stored = await (await caller.flows()).get(flow_id)
    tests, tester = await _kept(caller, flow_id), _tester(caller)
    unavailable = await while_connected(
        request, caller.stopping, wait_for_runner(caller.assistant.runner, READY_SECONDS)
    )
    if unavailable is not None:
        raise not_ready("runner_not_ready", unavailable.message, unavailable.fix)
    if not tests.get("tests"):
        return JsonResponse(TestedFlowReply(ok=True, tests=[]))
    catalogue = await known_components(caller)
    options = RunOptions(
        files=caller.files, variables=caller.variables, models=await caller.assistant.models_of(caller.id)
    )
    runner = cast("FlowRunner", _Counted(caller.assistant.runner, caller, is_real=not tests.get("models")))
    slot = await admit_run(caller)
    work = slot.within(tester.run(tests, stored.flow, catalogue, runner, options))
    try:
        tested = await while_connected(request, caller.stopping, work)
    except InvalidTests as invalid:
        raise _invalid(invalid) from None
    except TimeIsOver:
        raise ApiError(504, "timeout", "The tests took longer than they may.", "Run fewer at a time.") from None
    return JsonResponse(TestedFlowReply(ok=all(one.passed for one in tested), tests=tested))


class _Counted:
    """A runner whose runs are counted as the user's; everything else is delegated."""

    def __init__(self, runner: FlowRunner, caller: Caller, *, is_real: bool) -> None:
        self._runner = runner
        self._caller = caller
        self._is_real = is_real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        result = await self._runner.execute(flow, text, options)
        if self._is_real and not result.busy:
            self._caller.assistant.usage_log.record(self._caller.id, usage_of_run(result))
        return result


def _tester(caller: Caller) -> FlowTester:
    tester = caller.state.flow_tester
    if tester is None:
        fix = "Start it with `wirewright serve`, or run `wirewright flow test`."
        raise ApiError(409, "tests_unavailable", "This server cannot run the tests of flows.", fix)
    return tester


def _checked(caller: Caller, tests: JsonObject) -> None:
    try:
        _tester(caller).check(tests)
    except InvalidTests as invalid:
        raise _invalid(invalid) from None


def _invalid(invalid: InvalidTests) -> ApiError:
    return ApiError(422, "invalid_tests", invalid.message, "docs/flow-tests.md says what a test has.", invalid.place)


async def _kept(caller: Caller, flow_id: str) -> JsonObject:
    try:
        return await asyncio.to_thread(read_tests, caller.files, flow_id)
    except FileRefused as refused:
        raise refusal(refused) from None


def _reply(tests: JsonObject) -> FlowTestsReply:
    return FlowTestsReply.model_validate({"tests": tests.get("tests", []), "models": tests.get("models", [])})


routes = [
    Route(f"{PATH}/{{flow_id}}/tests", Tests),
    Route(f"{PATH}/{{flow_id}}/tests/run", run_tests, methods=["POST"]),
]
