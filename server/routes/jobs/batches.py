"""Batches over HTTP: many inputs through one stored flow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, cast

from pydantic import ConfigDict, Field, JsonValue, field_validator, model_validator
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from agent.contract.model import ContractModel, Page, Received
from flows.document import JsonObject
from runtime.egress.hosts import read_hosts
from runtime.gateway.prices import price_of
from runtime.jobs.job import RETRIED, JobState, RetriedState
from server.access.caller import Caller, caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.limits.budget import tokens_left
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.requests.page import PageQuery, paging, queried
from server.state import server_state

if TYPE_CHECKING:
    from runtime.jobs.batches import Batch, Batches

BATCHES: Final = "/api/v1/batches"
INPUTS: Final = 10_000
"""How many inputs a request may have."""

TOTAL: Final = 1_000_000
"""How many inputs a batch may have in all its parts."""

AT_ONCE: Final = 200
"""How many results are read at once."""

NDJSON: Final = "application/x-ndjson"


class BatchInput(ContractModel):
    """One input of a batch. Other than in other requests, an unknown key is refused: a misspelt one would run in vain.

    Attributes:
        input_value: the text to type into the chat input; null runs the flow with the values as configured.
        tweaks: values for this run alone, by node id and field name.
        session_id: the conversation that the flow sees.
    """

    input_value: str | None = None
    tweaks: dict[str, dict[str, JsonValue]] = Field(default_factory=dict[str, dict[str, JsonValue]])
    session_id: str | None = Field(default=None, max_length=200)

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _has_known_keys(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        keys = cast("Mapping[object, object]", given)
        known = ", ".join(cls.model_fields)
        if not keys:
            raise ValueError(f"An input has at least one of: {known}.")
        if (unknown := next((str(key) for key in keys if key not in cls.model_fields), None)) is not None:
            raise ValueError(f"An input has no key {unknown[:60]!r}. It has: {known}.")
        return keys


class BatchRequest(ContractModel):
    """Asks for a batch.

    Attributes:
        inputs: what each run is given: an object, or the text to type into the chat input alone.
        id: names the batch; the same id again is the same batch. Left out for a new one.
        timeout: seconds each run may take.
        tweaks: values for all of its runs.
        allow_hosts: hosts that its runs may reach where the operator has runs ask for hosts.
        ceiling_tokens: how many tokens it may use; what is left then is not run. Null for any number.
        estimate: whether to answer only what it is likely to use, and run nothing.
        first: of a part of a batch that is too large for one request: the position of the first of its inputs.
        total: how many inputs the batch has in all its parts, which have one `id` and come in any order. Null for one
            that comes at once.
    """

    inputs: list[BatchInput] = Field(min_length=1, max_length=INPUTS)
    id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{1,80}$")
    timeout: float = Field(default=60.0, gt=0, le=600, allow_inf_nan=False)
    tweaks: dict[str, dict[str, JsonValue]] = Field(default_factory=dict[str, dict[str, JsonValue]])
    allow_hosts: tuple[str, ...] = Field(default=(), max_length=50)
    ceiling_tokens: int | None = Field(default=None, ge=1)
    estimate: bool = False
    first: int = Field(default=0, ge=0)
    total: int | None = Field(default=None, ge=1, le=TOTAL)

    @model_validator(mode="after")
    def _is_part(self) -> BatchRequest:
        if self.first + len(self.inputs) > (self.total or len(self.inputs)):
            raise ValueError("A part ends within the `total` of its batch.")
        if self.total not in (None, len(self.inputs)) and self.id is None and not self.estimate:
            raise ValueError("The parts of a batch name its `id`.")
        return self

    @field_validator("inputs", mode="before")
    @classmethod
    def _texts(cls, given: object) -> object:
        if not isinstance(given, list):
            return given
        return [{"input_value": one} if isinstance(one, str) else one for one in given]  # pyright: ignore[reportUnknownVariableType]  (as JSON has it)

    @field_validator("allow_hosts")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        read_hosts(hosts)
        return hosts


class BatchRetry(ContractModel):
    """Asks for what has failed or was cancelled to be run again.

    Attributes:
        states: which of them: those that have failed, those that were cancelled, or both.
        ceiling_tokens: how many tokens the batch may use in all from now on; null leaves what it may.
    """

    states: tuple[RetriedState, ...] = Field(default=RETRIED, min_length=1)
    ceiling_tokens: int | None = Field(default=None, ge=1)


class ResultsQuery(ContractModel):
    """Asks for some of a batch's results.

    Attributes:
        after: the position of the last input that is not wanted.
        limit: how many at most; null for all.
    """

    after: int = Field(default=-1, ge=-1)
    limit: int | None = Field(default=None, ge=1, le=INPUTS)


class BatchEntry(Received):
    """A batch as it stands.

    Attributes:
        id: unique for its user.
        flow: the stored flow.
        version: its version when the batch began; all runs are of it.
        name: the flow's name then.
        total: how many inputs there are, in all its parts.
        counts: how many of them are in each state; states that none is in are left out, and so are those that have not
            come.
        tokens: how many tokens were used.
        ceiling_tokens: how many it may use; null for any number.
        reason: why it was ended early, or empty.
        created_at: when it began, ISO 8601 in UTC.
        ended: whether nothing more comes of it.
    """

    id: str
    flow: str
    version: int
    name: str
    total: int
    counts: dict[JobState, int]
    tokens: int
    ceiling_tokens: int | None
    reason: str
    created_at: str
    ended: bool


class BatchEstimate(Received):
    """What a batch is likely to use, by the flow's earlier runs.

    Attributes:
        inputs: how many inputs there are.
        runs: how many earlier runs this is learnt from; nothing is known without any.
        tokens: how many tokens it is likely to use; null when nothing is known.
        seconds: how long its runs are likely to take, one after the other; null when nothing is known.
        dollars: what its tokens are likely to cost, at the price of the flow's dearest model; null when that is not
            known.
    """

    inputs: int
    runs: int
    tokens: int | None
    seconds: float | None
    dollars: float | None


class BatchPage(Page):
    """Batches, latest first."""

    batches: list[BatchEntry]


class BatchLine(Received):
    """What came of one input of a batch: one line of its results.

    Attributes:
        position: its place among the inputs, from 0.
        state: how it stands.
        result: what the run gave, as the reply to a run; null if it gave nothing.
        error: why it failed; null if it did not.
        attempts: how often it was begun.
    """

    position: int
    state: JobState
    result: dict[str, JsonValue] | None
    error: str | None
    attempts: int


@operation(BatchEntry, body=BatchRequest, status=202, also={200: BatchEstimate}, headers=("Location",), errors=(429,))
async def start(request: Request) -> Response:
    """Run a stored flow with each of many inputs, on the workers; the reply is the batch, or an estimate of it."""
    caller = caller_of(request)
    try:
        body = await read_object(request, caller.settings.chat_body_limit)
    except ApiError as error:
        if error.status == 413:
            error.fix = (
                "Send its inputs in parts (`id`, `first` and `total`), or have the operator raise "
                "WIREWRIGHT_CHAT_BODY_LIMIT."
            )
        raise
    asked = validated(BatchRequest, body)
    stored = await (await caller.flows()).get(request.path_params["flow_id"])
    batches = await batches_of(request)
    if asked.estimate:
        catalogue = await caller.assistant.catalogue()
        price = await asyncio.to_thread(price_of, stored.flow, catalogue, caller.settings.model)
        from runtime.jobs.estimates import estimate

        count = asked.total or len(asked.inputs)
        found = await estimate(caller.assistant.database, caller.id, stored.entry.id, count, price)
        return JsonResponse(BatchEstimate.model_validate(asdict(found)))
    await tokens_left(caller.assistant.usage_log, caller.settings, caller.id)
    from uuid import uuid4

    from runtime.jobs.batches import NewBatch

    options: JsonObject = asked.model_dump(mode="json", include={"timeout", "tweaks", "allow_hosts"})
    batch = await batches.start(
        NewBatch(
            id=asked.id or uuid4().hex,
            owner=caller.id,
            flow=stored.entry.id,
            version=stored.entry.version,
            name=stored.entry.name,
            ceiling_tokens=asked.ceiling_tokens,
            given={"flow": stored.flow.raw, "options": options},
            inputs=[one.model_dump(mode="json", exclude_defaults=True) for one in asked.inputs],
            seconds=asked.timeout + WAIT_SECONDS,
            first=asked.first,
            total=asked.total,
        )
    )
    caller.state.jobs.wake()
    return JsonResponse(_entry(batch), 202, {"Location": f"{BATCHES}/{batch.id}"})


WAIT_SECONDS: Final = 600.0
"""How long a run of a batch may wait for the engine of its worker, beside its own time."""


class AllBatches(HTTPEndpoint):
    """All batches."""

    @operation(BatchPage, query=PageQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, latest first."""
        asked = queried(PageQuery, request)
        found, total = await (await batches_of(request)).page(request.user.id, asked.limit, asked.offset)
        entries = [_entry(batch) for batch in found]
        return JsonResponse(BatchPage.model_validate({"batches": entries, **paging(request, asked, total)}))


class OneBatch(HTTPEndpoint):
    """One batch."""

    @operation(BatchEntry)
    async def get(self, request: Request) -> Response:
        """How it stands."""
        found = await (await batches_of(request)).get(request.user.id, request.path_params["batch_id"])
        return JsonResponse(_entry(found))

    @operation(errors=(409,))
    async def delete(self, request: Request) -> Response:
        """Erase it with its results; one that goes on has to be cancelled first."""
        batches, batch = await batches_of(request), request.path_params["batch_id"]
        if not (await batches.get(request.user.id, batch)).ended:
            fix = f"Cancel it first: POST {BATCHES}/{{id}}/cancel."
            raise ApiError(409, "batch_goes_on", "The batch goes on, so it cannot be erased.", fix)
        await batches.remove(request.user.id, batch)
        return Response(status_code=204)


@operation(BatchEntry)
async def cancel(request: Request) -> Response:
    """End a batch early; what has ended is kept, and the rest can be run later by a retry."""
    found = await (await batches_of(request)).cancel(request.user.id, request.path_params["batch_id"])
    server_state(request).jobs.wake()
    return JsonResponse(_entry(found))


@operation(BatchEntry, body=BatchRetry, body_optional=True)
async def retry(request: Request) -> Response:
    """Run again what has failed or was cancelled, and nothing else."""
    caller = caller_of(request)
    asked = validated(BatchRetry, await read_object(request, caller.settings.body_limit, optional=True))
    batches = await batches_of(request)
    found = await batches.retry(caller.id, request.path_params["batch_id"], asked.ceiling_tokens, asked.states)
    caller.state.jobs.wake()
    return JsonResponse(_entry(found))


@operation(BatchLine, query=ResultsQuery, media_type=NDJSON)
async def results(request: Request) -> Response:
    """What came of the inputs so far, in their order: a line of JSON for each, also of those that wait."""
    caller, batch = caller_of(request), request.path_params["batch_id"]
    asked = queried(ResultsQuery, request)
    batches = await batches_of(request)
    await batches.get(caller.id, batch)
    return StreamingResponse(_lines(batches, caller, batch, asked), media_type=NDJSON)


async def _lines(batches: Batches, caller: Caller, batch: str, asked: ResultsQuery) -> AsyncGenerator[str]:
    after, left = asked.after, TOTAL if asked.limit is None else asked.limit
    while left and (some := await batches.results(caller.id, batch, after, min(left, AT_ONCE))):
        after, left = some[-1].position, left - len(some)
        yield "".join(f"{json.dumps(asdict(one), ensure_ascii=False, separators=(',', ':'))}\n" for one in some)


async def batches_of(request: Request) -> Batches:
    """The batches of this server's database, which is opened when it is first needed."""
    caller = caller_of(request)
    await caller.assistant.database.open()
    from runtime.jobs.batches import Batches

    return Batches(caller.assistant.database, caller.settings.user_queued_jobs)


def _entry(batch: Batch) -> BatchEntry:
    return BatchEntry.model_validate(asdict(batch))


routes = [
    Route("/api/v1/flows/{flow_id}/batch", start, methods=["POST"]),
    Route(BATCHES, AllBatches),
    Route(f"{BATCHES}/{{batch_id}}", OneBatch),
    Route(f"{BATCHES}/{{batch_id}}/cancel", cancel, methods=["POST"]),
    Route(f"{BATCHES}/{{batch_id}}/retry", retry, methods=["POST"]),
    Route(f"{BATCHES}/{{batch_id}}/results", results, methods=["GET"]),
]
