"""Schedules and webhooks over HTTP: what runs a stored flow by itself."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field, JsonValue, field_validator, model_validator
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import ContractModel, Received
from flows.document import JsonObject
from runtime.egress.hosts import read_hosts
from runtime.egress.policy import HostRefused
from runtime.jobs.errors import WebhookRefused
from runtime.jobs.job import ScheduleKind
from server.access.auth import HOOKS_FOLDER
from server.access.caller import Caller, caller_of
from server.access.scopes import HOOK_PATH
from server.errors import ApiError
from server.jobs.notices import BadAddress, check_reachable, checked_address, notice_policy
from server.json_response import SHOWN_ONCE, JsonResponse
from server.middleware.token_check import address_of, bearer
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.routes.jobs.queued import JOBS
from server.state import server_state

if TYPE_CHECKING:
    from runtime.jobs.schedules import Schedule, Schedules, ScheduleUpdate

SCHEDULES: Final = "/api/v1/schedules"


def _address(given: str) -> str:
    try:
        return checked_address(given) if given else given
    except BadAddress as bad:
        raise ValueError(str(bad)) from None


Address: TypeAlias = Annotated[str, AfterValidator(_address)]
"""An address for notices of failures, or empty."""


class ScheduleRequest(ContractModel):
    """Asks for a flow to be run by itself.

    Attributes:
        kind: at the times of `cron`, or whenever its webhook is called.
        cron: five fields: minute, hour, day of the month, month, day of the week; for a schedule alone.
        zone: the time zone of the expression.
        input_value: the text to type into the chat input; a webhook's call may have one of its own.
        session_id: the conversation that the flow sees.
        tweaks: values for these runs alone, by node id and field name.
        allow_hosts: hosts that its runs may reach where the operator has runs ask for hosts.
        timeout: seconds each run may take.
        notify: an address that gets a POST when a run has failed; empty for none. It may not be on the server's own
            machine or network unless the operator names it (`WIREWRIGHT_RUN_HOSTS`).
    """

    kind: ScheduleKind = "cron"
    cron: str = Field(default="", max_length=200)
    zone: str = Field(default="UTC", max_length=100)
    input_value: str | None = None
    session_id: str | None = Field(default=None, max_length=200)
    tweaks: dict[str, dict[str, JsonValue]] = Field(default_factory=dict[str, dict[str, JsonValue]])
    allow_hosts: tuple[str, ...] = Field(default=(), max_length=50)
    timeout: float = Field(default=60.0, gt=0, le=600, allow_inf_nan=False)
    notify: Address = ""

    @field_validator("allow_hosts")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        read_hosts(hosts)
        return hosts

    @model_validator(mode="after")
    def _has_times(self) -> ScheduleRequest:
        if (self.kind == "cron") is not bool(self.cron.strip()):
            raise ValueError("A schedule needs `cron`, and a webhook has none.")
        return self


class ScheduleChange(ContractModel):
    """Asks for a change of a schedule or webhook, which keeps its id and its token. What is left out stays as it is.

    Attributes:
        is_on: whether it is used.
        cron: five fields; for a schedule alone.
        zone: the time zone of the expression; for a schedule alone.
        input_value: the text to type into the chat input; null for the flow's own values.
        notify: an address that gets a POST when a run has failed; empty for none.
    """

    is_on: bool = True
    cron: str = Field(default="", min_length=1, max_length=200)
    zone: str = Field(default="", min_length=1, max_length=100)
    input_value: str | None = None
    notify: Address = ""

    @model_validator(mode="after")
    def _changes_something(self) -> ScheduleChange:
        if not self.model_fields_set:
            raise ValueError(f"Name at least one of: {', '.join(ScheduleChange.model_fields)}.")
        return self

    @property
    def update(self) -> ScheduleUpdate:
        """What becomes of the schedule."""
        from runtime.jobs.schedules import ScheduleUpdate

        return ScheduleUpdate(
            on=self.is_on if "is_on" in self.model_fields_set else None,
            cron=self.cron.strip() or None,
            zone=self.zone or None,
            given=self.model_dump(include={"input_value", "notify"}, exclude_unset=True),
        )


class ScheduleEntry(Received):
    """When a flow is run by itself.

    Attributes:
        id: unique for all.
        kind: at times, or whenever its webhook is called.
        flow: the stored flow.
        name: its name now; empty when it is not stored any more.
        cron: the expression; empty for a webhook.
        zone: the time zone of the expression; empty for a webhook.
        is_on: whether it is in use.
        next_at: when it is due, ISO 8601 in UTC; null when it is not.
        last_at: when it ran last; null before.
        last_job: the job that it queued last, or empty.
        created_at: when it was made.
        input_value: the text that its runs type into the chat input; null for the flow's own values.
        notify: the address that gets a POST when a run has failed, or empty.
        url: where a webhook is called, as this request has named the server; empty for a schedule.
    """

    id: str
    kind: ScheduleKind
    flow: str
    name: str
    cron: str
    zone: str
    is_on: bool
    next_at: str | None
    last_at: str | None
    last_job: str
    created_at: str
    input_value: str | None
    notify: str
    url: str


class NewSchedule(ScheduleEntry):
    """A schedule or webhook that was made.

    Attributes:
        token: what calls of the webhook carry, which is shown only now; null for a schedule.
    """

    token: str | None


class ScheduleList(Received):
    """Schedules and webhooks, the latest first."""

    schedules: list[ScheduleEntry]


class Called(Received):
    """A run that a webhook has queued.

    Attributes:
        job: its job.
        url: where the owner of the webhook reads it.
    """

    job: str
    url: str


class OfFlow(HTTPEndpoint):
    """The schedules and webhooks of one flow."""

    @operation(ScheduleList)
    async def get(self, request: Request) -> Response:
        """All of them."""
        stored = await (await caller_of(request).flows()).get(request.path_params["flow_id"])
        found = await (await schedules_of(request)).all(request.user.id, stored.entry.id)
        return JsonResponse(ScheduleList(schedules=[_entry(request, one) for one in found]))

    @operation(NewSchedule, body=ScheduleRequest, status=201, headers=("Location",), errors=(422,))
    async def post(self, request: Request) -> Response:
        """Run the flow at times, or whenever a webhook is called, whose token is shown in this reply alone."""
        caller = caller_of(request)
        asked = validated(ScheduleRequest, await read_object(request, caller.settings.body_limit))
        _check_notify(caller, asked.notify)
        stored = await (await caller.flows()).get(request.path_params["flow_id"])
        schedules, token = await schedules_of(request), None
        source = "schedule" if asked.kind == "cron" else "webhook"
        options = asked.model_dump(mode="json", exclude={"kind", "cron", "zone"}, exclude_none=True)
        given: JsonObject = {**options, "source": source}
        if asked.kind == "cron":
            made = await schedules.add_cron(caller.id, stored.entry.id, asked.cron.strip(), asked.zone, given)
        else:
            made, token = await schedules.add_webhook(caller.id, stored.entry.id, given)
        caller.state.jobs.scheduled()
        reply = NewSchedule.model_validate({**_entry(request, made).model_dump(), "token": token})
        headers = {"Location": f"{SCHEDULES}/{made.id}"}
        return JsonResponse(reply, 201, headers if token is None else {**headers, **SHOWN_ONCE})


@operation(ScheduleList)
async def everything(request: Request) -> Response:
    """The schedules and webhooks of all flows."""
    found = await (await schedules_of(request)).all(request.user.id)
    return JsonResponse(ScheduleList(schedules=[_entry(request, one) for one in found]))


class OneSchedule(HTTPEndpoint):
    """One schedule or webhook."""

    @operation(ScheduleEntry)
    async def get(self, request: Request) -> Response:
        """When it is due, and what it did last."""
        found = await (await schedules_of(request)).get(request.user.id, request.path_params["schedule_id"])
        return JsonResponse(_entry(request, found))

    @operation(ScheduleEntry, body=ScheduleChange)
    async def patch(self, request: Request) -> Response:
        """Change its times, its input or its notices, or let it rest; a webhook keeps its token."""
        caller = caller_of(request)
        asked = validated(ScheduleChange, await read_object(request, caller.settings.body_limit))
        _check_notify(caller, asked.notify)
        schedules = await schedules_of(request)
        found = await schedules.change(caller.id, request.path_params["schedule_id"], asked.update)
        caller.state.jobs.scheduled()
        return JsonResponse(_entry(request, found))

    @operation()
    async def delete(self, request: Request) -> Response:
        """Delete it; what it has queued goes on."""
        await (await schedules_of(request)).remove(request.user.id, request.path_params["schedule_id"])
        return Response(status_code=204)


class HookCall(ContractModel):
    """What a call of a webhook says.

    Attributes:
        input_value: the text to type into the chat input; null for the webhook's own, or else the whole body as JSON.
        session_id: the conversation that the flow sees; null for the webhook's own.
        id: names the call: the same name again queues nothing.
    """

    input_value: str | None = None
    session_id: str | None = Field(default=None, max_length=200)
    id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_.:-]{1,80}$")


@operation(Called, body=HookCall, status=202, errors=(401, 429, 503), body_optional=True)
async def call(request: Request) -> Response:
    """Queue a run of the webhook's flow. Its own token is sent as `Authorization: Bearer whk_…`.

    A body that names no `input_value` is itself the input, as JSON.
    """
    state = server_state(request)
    body = await read_object(request, state.settings.body_limit, optional=True)
    asked = validated(HookCall, body)
    given: JsonObject = asked.model_dump(mode="json", include={"input_value", "session_id"}, exclude_none=True)
    if asked.input_value is None and body.keys() - {"session_id", "id"}:
        given["input_value"] = json.dumps(body, ensure_ascii=False)
    token = bearer(request.headers.get("authorization", "")).decode("latin-1")
    await state.assistant.database.open()
    from runtime.jobs.schedules import Schedules

    schedules = Schedules(state.assistant.database, state.settings.user_queued_jobs)
    try:
        job = await schedules.call(request.path_params["hook_id"], token, given, asked.id)
    except WebhookRefused as refused:
        seconds = request.app.state.failures.count(address_of(request.scope))
        if seconds:
            fix = f"Wait {seconds} s."
            wait = {"Retry-After": str(seconds)}
            raise ApiError(429, "too_many_attempts", "Too many wrong tokens.", fix, headers=wait) from refused
        raise
    state.jobs.wake()
    return JsonResponse(Called(job=job, url=f"{JOBS}/{job}"), 202)


def _check_notify(caller: Caller, address: str) -> None:
    """Refuse an address that no notice could reach."""
    try:
        if address:
            check_reachable(address, notice_policy(caller.settings))
    except HostRefused as refused:
        message, fix = refused.error.message, refused.error.fix
        raise ApiError(
            422, "invalid_request", f"notify: Notices reach what runs reach. {message}", fix, "$.notify"
        ) from None


async def schedules_of(request: Request) -> Schedules:
    """The schedules of this server's database, which is opened when it is first needed."""
    caller = caller_of(request)
    await caller.assistant.database.open()
    from runtime.jobs.schedules import Schedules

    return Schedules(caller.assistant.database, caller.settings.user_queued_jobs)


def _entry(request: Request, schedule: Schedule) -> ScheduleEntry:
    url = f"{str(request.base_url).rstrip('/')}{HOOKS_FOLDER}{schedule.id}" if schedule.kind == "webhook" else ""
    return ScheduleEntry.model_validate({**asdict(schedule), "url": url})


routes = [
    Route("/api/v1/flows/{flow_id}/schedules", OfFlow),
    Route(SCHEDULES, everything, methods=["GET"]),
    Route(f"{SCHEDULES}/{{schedule_id}}", OneSchedule),
    Route(HOOK_PATH, call, methods=["POST"]),
]
