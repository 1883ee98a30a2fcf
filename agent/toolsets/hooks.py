"""What happens to every model request of a turn, as one capability of its agent.

The framework copies the context of a run for each capability at each of its hooks, and passes every event of the run
through each of them. One capability costs a third of what three do, and one that changes no event passes none. A
capability that a run brings along is combined with the agent's own for each run, which takes longer than all that this
one does: the agent has it for good, and finds what a run's requests need in the run's context.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from pydantic_ai import AgentStreamEvent, ModelResponse, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext

from agent.conversation.compaction import HistoryCompaction
from agent.prompts.images import AttachedImages
from agent.toolsets.framing import FramedResults
from agent.toolsets.listing import UnlistedTools
from tools.workbench import Workbench

Change: TypeAlias = HistoryCompaction | UnlistedTools | FramedResults | AttachedImages
"""What changes a request."""


@dataclass(frozen=True)
class RunRequests:
    """What happens to the requests of one run.

    Attributes:
        compaction: compacts the history.
        others: what else changes each of them, in order: what takes definitions of tools out, frames what tools
            answered, and shows images.
    """

    compaction: HistoryCompaction
    others: Sequence[Change]


_RUN: ContextVar[RunRequests | None] = ContextVar("run_requests", default=None)


@contextmanager
def requests_of(run: RunRequests) -> Generator[None]:
    """Let the agent's runs in the block make their requests so."""
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)


class RequestHooks(AbstractCapability[Workbench]):
    """Compacts the history and changes each request as `requests_of` says."""

    async def before_model_request(
        self, ctx: RunContext[Workbench], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Change one request."""
        run = _RUN.get()
        for each in () if run is None else (run.compaction, *run.others):
            request_context = await each.before_model_request(ctx, request_context)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Workbench], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Give tool calls ids that are unique."""
        run = _RUN.get()
        if run is None:
            return response
        return await run.compaction.after_model_request(ctx, request_context=request_context, response=response)

    def wrap_run_event_stream(
        self, ctx: RunContext[Workbench], *, stream: AsyncIterable[AgentStreamEvent]
    ) -> AsyncIterable[AgentStreamEvent]:
        """The events of the run, as they are."""
        del ctx
        return stream
