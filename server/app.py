"""The HTTP application: its routes, its wall, and what lives as long as it does."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware

from agent.assistant import Assistant
from runtime.runner import Runner
from server.errors import HANDLERS
from server.middleware.boundary import Boundary
from server.routes import assist, components, flows, health, metrics, providers, runs
from server.service import Service
from server.settings import ServerSettings

log = logging.getLogger(__name__)


def create_app(
    settings: ServerSettings,
    *,
    assistant: Assistant | None = None,
    stopping: asyncio.Event | None = None,
    ports: Collection[int] = (),
) -> Starlette:
    """The application of one server.

    Args:
        settings: what the environment says.
        assistant: takes the turns; None opens one with the application, its runner warming in the background.
        stopping: set by whoever stops the server, so that open streams can say goodbye.
        ports: where the server listens; what flows do cannot connect there.
    """
    stop = stopping or asyncio.Event()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            serving = assistant or await stack.enter_async_context(Assistant.open(settings))
            if isinstance(serving.runner, Runner):
                serving.runner.on_progress = log.info
                serving.runner.closed_ports = ports
                stack.callback(setattr, serving.runner, "closed_ports", ())
            service = Service(settings, serving, stop)
            stack.push_async_callback(serving.database.aclose)
            service.metrics.attach()
            stack.callback(service.metrics.detach)
            app.state.service = service
            yield

    return Starlette(
        routes=[
            *assist.routes,
            *flows.routes,
            *runs.routes,
            *components.routes,
            *providers.routes,
            *metrics.routes,
            *health.routes,
        ],
        middleware=[Middleware(Boundary)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
