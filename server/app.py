"""The HTTP application: its routes, its middleware, and what lives as long as it does."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.middleware import Middleware

from agent.assistant import Assistant
from agent.contract.requests import TURN_HEADER
from runtime.accounts.users import Users
from runtime.files.private import close_data_folder
from runtime.runner import Runner
from server.access.auth import Access
from server.access.deleted_users import DeletedUsers
from server.access.failed_sign_ins import FailedSignIns
from server.access.scopes import checked
from server.drain import Drain, DrainCheck
from server.errors import HANDLERS
from server.flow_tests.tester import FlowTester
from server.idempotency.check import REPLAYED
from server.idempotency.keys import IdempotencyKeys
from server.mcp.transports import headers as mcp
from server.memory import IdleMemory
from server.middleware.error_pages import ErrorPages
from server.middleware.host_check import HostCheck
from server.middleware.request_id import RequestId
from server.middleware.token_check import TokenCheck
from server.readiness import DatabaseProbe
from server.routes import (
    assist,
    components,
    description,
    doors,
    files,
    health,
    metrics,
    providers,
    run_log,
    runs,
    turns,
    usage,
    variables,
)
from server.routes.browser import page, sign_in
from server.routes.conversations import approvals
from server.routes.conversations import stored as conversations
from server.routes.flows import configure, needs, revisions, sessions, stored, templates, tests, updates
from server.routes.flows import files as flow_files
from server.routes.installation import bundles, evaluations, models, users
from server.routes.jobs import batches, queued, schedules
from server.settings import ServerSettings
from server.state import ServerState
from server.streams.running import RunningTurns
from server.telemetry.progress import log_progress
from server.turns import AssistTurn


def _log_progress(runner: Runner, message: str) -> None:
    level = logging.WARNING if runner.state == "failed" else logging.INFO
    log_progress(message, under_way=runner.state in {"installing", "starting"}, level=level)


async def _close_mcp(app: Starlette) -> None:
    if app.state.mcp is not None:
        await app.state.mcp.aclose()


def _cross_origin(origins: Sequence[str]) -> list[Middleware]:
    """What answers the pages of other origins: nothing when there are none. They send a token, never a cookie."""
    if not origins:
        return []
    from starlette.middleware.cors import CORSMiddleware

    return [
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=(
                "Authorization",
                "Content-Type",
                "If-Match",
                "Last-Event-ID",
                "Idempotency-Key",
                "X-Request-ID",
                "traceparent",
                *mcp.REQUEST_HEADERS,
            ),
            expose_headers=(
                "ETag",
                "Location",
                "Retry-After",
                "X-Request-ID",
                REPLAYED,
                TURN_HEADER,
                mcp.SESSION_HEADER,
            ),
        )
    ]


def create_app(
    settings: ServerSettings,
    *,
    assistant: Assistant | None = None,
    stopping: asyncio.Event | None = None,
    access: Access | None = None,
    flow_tester: FlowTester | None = None,
) -> Starlette:
    """The application of one server.

    Args:
        settings: the settings of the server.
        assistant: takes the turns; None opens one with the application, whose runner starts in the background.
        stopping: set when the server stops, so that open streams can send their last event.
        access: decides who may use it; None takes the token of the data folder, which is made if there is none.
        flow_tester: runs the saved tests of flows; None for a server that cannot.

    Raises:
        TokenUnavailable: there is no token, and none can be made.
    """
    access = access or Access.open(settings.data)
    stop, failures, drain = stopping or asyncio.Event(), FailedSignIns(), Drain()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        await asyncio.to_thread(close_data_folder, settings.data)
        async with AsyncExitStack() as stack:
            kept = settings.model_copy(update={"memory": "file"}) if settings.is_durable else settings
            serving = assistant or await stack.enter_async_context(Assistant.open(kept, waits_for_engine=False))
            if isinstance(serving.runner, Runner):
                serving.runner.on_progress = partial(_log_progress, serving.runner)
            running = RunningTurns(
                serving.database,
                stop,
                grace=settings.turn_grace,
                kept=settings.turn_events_kept,
                data=settings.data,
                durable=settings.is_durable,
                queued=settings.user_queued_jobs,
            )
            state = ServerState(
                settings,
                serving,
                stop,
                drain,
                DatabaseProbe(serving.database),
                running,
                flow_tester=flow_tester,
            )
            deleted = DeletedUsers(serving, settings.data)
            running.on_stored = state.turn_slots.on_end = state.run_slots.on_end = deleted.worked_for
            drain.more = lambda: serving.queue.running + len(state.run_slots) + state.jobs.under_way
            drain.on_begin.append(state.jobs.drain)
            memory = IdleMemory(lambda: drain.under_way)
            drain.on_done = memory.worked
            stack.callback(memory.close)
            stack.push_async_callback(serving.database.aclose)
            stack.push_async_callback(state.database.aclose)
            stack.push_async_callback(deleted.aclose)
            stack.push_async_callback(running.aclose)
            stack.push_async_callback(state.live_runs.aclose)
            stack.push_async_callback(state.jobs.aclose)
            state.jobs.start()
            stack.push_async_callback(state.installs.aclose)
            app.state.mcp = None  # made by its first client
            stack.push_async_callback(_close_mcp, app)
            state.metrics.attach()
            stack.callback(state.metrics.detach)
            access.users = Users(serving.database)
            app.state.idempotency = IdempotencyKeys(serving.database)
            app.state.server, app.state.access, app.state.failures = state, access, failures
            if settings.is_durable and not settings.queues_turns:
                from server.durable.turns import open_durable

                stack.push_async_callback(await open_durable(state, AssistTurn.of_parts))
            yield

    app = Starlette(
        routes=checked(
            [
                *assist.routes,
                *turns.routes,
                *doors.routes,
                *flow_files.routes,  # before the flows, whose ids would match `import`
                *stored.routes,
                *revisions.routes,
                *updates.routes,
                *sessions.routes,
                *needs.routes,
                *tests.routes,
                *templates.routes,
                *conversations.routes,
                *approvals.routes,
                *run_log.routes,
                *runs.routes,
                *queued.routes,
                *batches.routes,
                *schedules.routes,
                *files.routes,
                *configure.routes,  # before the types, which may have any name
                *components.routes,
                *bundles.routes,
                *evaluations.routes,
                *providers.routes,
                *models.routes,
                *users.routes,
                *variables.routes,
                *doors.langflow_routes,
                *usage.routes,
                *metrics.routes,
                *description.routes,
                *health.routes,
                *page.routes,
                *sign_in.routes,
            ]
        ),
        middleware=[
            Middleware(RequestId),
            Middleware(HostCheck, settings.names, settings.origins),
            Middleware(ErrorPages),
            *_cross_origin(settings.origins),
            Middleware(TokenCheck, access, failures),
            Middleware(DrainCheck, drain),
        ],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    app.state.drain = drain
    return app
