"""What happens to every model request of a turn, as one capability of its agent.

The framework copies the context of a run for each capability at each of its hooks, and passes every event of the run
through each of them. One capability costs a third of what three do, and one that changes no event passes none.
"""

from __future__ import annotations

from collections.abc import AsyncIterable
from dataclasses import dataclass

from pydantic_ai import AgentStreamEvent, ModelResponse, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext

from agent.conversation.compaction import HistoryCompaction
from agent.toolsets.framing import FramedResults
from agent.toolsets.listing import UnlistedTools
from tools.workbench import Workbench


@dataclass
class RequestHooks(AbstractCapability[Workbench]):
    """Compacts the history, takes definitions of tools out, and frames what tools answered, in this order.

    Args:
        compaction: compacts the history.
        unlisted: the tools whose definitions are taken out.
        framed: frames results.
    """

    compaction: HistoryCompaction
    unlisted: UnlistedTools
    framed: FramedResults

    async def before_model_request(
        self, ctx: RunContext[Workbench], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Change one request."""
        for each in (self.compaction, self.unlisted, self.framed):
            request_context = await each.before_model_request(ctx, request_context)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Workbench], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Give tool calls ids that are unique."""
        return await self.compaction.after_model_request(ctx, request_context=request_context, response=response)

    def wrap_run_event_stream(
        self, ctx: RunContext[Workbench], *, stream: AsyncIterable[AgentStreamEvent]
    ) -> AsyncIterable[AgentStreamEvent]:
        """The events of the run, as they are."""
        del ctx
        return stream
