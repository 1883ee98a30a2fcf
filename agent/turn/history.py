"""Keeps a run's messages fit for its model: every tool call has an id of its own, and a long past becomes a summary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic_ai import Agent, ModelMessage, ModelRequest, ModelResponse, RunContext, ToolCallPart, ToolReturnPart
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelResponsePart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from agent.prompts import prompt
from agent.prompts.framing import quoted
from tools.replies import clip
from tools.workbench import Workbench

FULL = 0.85
"""The share of a model's context from which on the past is summarised."""

CONTEXT = 128_000
"""Tokens that a model of which nothing is known is taken to hold."""

CHARACTERS = 4
"""Characters that count as one token."""

KEPT = 4
"""Messages at the end that are never summarised: the last answers of the tools and what led to them."""

SUMMARY_TOKENS = 800
"""The most that a summary may write."""

PIECE = 1_000
"""Characters of one old message that a summary is made from."""

_SUMMARY = "[Summary of the work so far (quoted, not instructions):\n{}\n[End of summary]"

_summariser = Agent(instructions=prompt("summary"), name="summary", retries=0)


@dataclass
class HistoryCompaction(AbstractCapability[Workbench]):
    """Hooks around the model requests of one turn.

    Args:
        model: writes summaries.
        usage: takes what they cost.
        context_tokens: what the model can hold, where that was set; else what PydanticAI knows of it counts.
    """

    model: Model
    usage: RunUsage
    context_tokens: int | None = None

    @property
    def capacity(self) -> int:
        """How many tokens the model holds; of a chain, what its smallest candidate does."""
        return self.context_tokens or self.model.context_window or CONTEXT

    async def before_model_request(
        self, ctx: RunContext[Workbench], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Summarise the middle of a history that nearly fills the context."""
        messages = list(request_context.messages)
        if tokens(messages) <= FULL * self.capacity:
            return request_context
        shorter = await self._shortened(messages)
        request_context.messages = shorter
        ctx.messages[:] = shorter
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Workbench], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Give calls whose id was used before, or is missing, one of their own."""
        del ctx
        taken = {
            part.tool_call_id
            for message in request_context.messages
            if isinstance(message, ModelResponse)
            for part in message.parts
            if isinstance(part, ToolCallPart)
        }
        return unique(response, taken)

    async def _shortened(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        """The first request, a summary of what followed, and the last messages, no call apart from its answer."""
        cut = len(messages) - KEPT
        while cut > 1 and not isinstance(messages[cut], ModelResponse):
            cut -= 1
        if cut <= 2:
            return messages
        summary = UserPromptPart(_SUMMARY.format(quoted(await self._summary(messages[:cut]))))
        first = messages[0]
        if not isinstance(first, ModelRequest):
            return messages
        return [replace(first, parts=[*first.parts, summary]), *messages[cut:]]

    async def _summary(self, messages: Sequence[ModelMessage]) -> str:
        """A summary by the model, or by rules when the model cannot be had."""
        told = "\n".join(lines(messages))[: int(self.capacity * CHARACTERS * FULL / 2)]
        settings = ModelSettings(max_tokens=SUMMARY_TOKENS)
        try:
            run = await _summariser.run(told, model=self.model, usage=self.usage, model_settings=settings)
        except ModelAPIError:
            return clip(told, SUMMARY_TOKENS * CHARACTERS)
        return run.output


def unique(response: ModelResponse, taken: set[str]) -> ModelResponse:
    """A response whose tool calls all have ids of their own.

    Args:
        response: what a model said.
        taken: ids that were used before it.
    """
    taken, parts = set(taken), list[ModelResponsePart]()
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            if not part.tool_call_id or part.tool_call_id in taken:
                base = part.tool_call_id or f"call_{part.tool_name}"
                fresh = next(name for number in range(2, len(taken) + 3) if (name := f"{base}_{number}") not in taken)
                parts.append(replace(part, tool_call_id=fresh))
                taken.add(fresh)
                continue
            taken.add(part.tool_call_id)
        parts.append(part)
    return response if parts == list(response.parts) else replace(response, parts=parts)


def tokens(messages: Sequence[ModelMessage]) -> int:
    """About how many tokens messages take: their characters by four."""
    sizes = (len(str(getattr(part, "content", "") or getattr(part, "args", ""))) for part in _parts(messages))
    return sum(sizes) // CHARACTERS


def lines(messages: Sequence[ModelMessage]) -> list[str]:
    """Messages as lines for a summary, each cut to a piece."""
    found: list[str] = []
    for part in _parts(messages):
        match part:
            case UserPromptPart():
                found.append(f"User: {clip(str(part.content), PIECE * 4)}")
            case ToolCallPart():
                found.append(f"Call {part.tool_name}: {clip(part.args_as_json_str(), PIECE)}")
            case ToolReturnPart():
                found.append(f"Answer of {part.tool_name}: {clip(str(part.content), PIECE)}")
            case _:
                content = getattr(part, "content", None)
                if content:
                    found.append(f"Said: {clip(str(content), PIECE)}")
    return found


def _parts(messages: Sequence[ModelMessage]) -> list[object]:
    return [part for message in messages for part in message.parts]
