"""What happens to every model request of a turn, as one capability of its agent.

The framework copies the context of a run for each capability at each of its hooks, and passes every event of the run
through each of them. One capability costs a third of what three do, and one that changes no event passes none; so this
one also stands for the two that every agent is given. A capability that a run brings along is combined with the agent's
own for each run, which takes longer than all that this one does: the agent has it for good, and finds what a run's
requests need in the run's context.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from pydantic_ai import AgentStreamEvent, ModelResponse, RunContext
from pydantic_ai.capabilities import ToolSearch
from pydantic_ai.capabilities._pending_messages import PendingMessageDrainCapability
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import AgentNativeTool
from pydantic_ai.toolsets import AbstractToolset

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


class RequestHooks(ToolSearch[Workbench], PendingMessageDrainCapability):
    """Compacts the history and changes each request as `requests_of` says.

    The framework gives an agent a capability that searches tools and one that delivers messages, unless it has one of
    the kind. None of our tools has to be searched for, so nothing stands before them; messages are delivered here.
    """

    def get_native_tools(self) -> Sequence[AgentNativeTool[Workbench]]:
        """None: no tool is searched for."""
        return ()

    def get_wrapper_toolset(self, toolset: AbstractToolset[Workbench]) -> AbstractToolset[Workbench]:
        """The toolset itself."""
        return toolset

    async def before_model_request(
        self, ctx: RunContext[Workbench], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Change one request."""
        request_context = await PendingMessageDrainCapability.before_model_request(self, ctx, request_context)
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
