"""What a turn used, by model, and what it may use. An unknown price is never guessed: the phase then has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic_ai import ModelMessage, ModelResponse
from pydantic_ai.usage import RunUsage, UsageLimits

from agent.models.providers import DEMO, ModelChoice
from runtime.usage.entry import FLOW_MODELS, Usage

FLOW = "flow"
"""The phase of the models inside the flows."""


def usage_by_model(
    choice: ModelChoice,
    answered: Sequence[str],
    phases: Mapping[str, RunUsage],
    messages: Iterable[ModelMessage],
    runs: int,
) -> dict[str, Usage]:
    """What one turn used, by model.

    Args:
        choice: the models that were to serve it.
        answered: the names of those that did.
        phases: tokens and requests by phase.
        messages: the agent's messages, whose responses say whether their prices are known.
        runs: how many of the user's runs there were.
    """
    name = next(iter((*answered, *choice.names)), "")
    model = DEMO if choice.is_demo else f"{choice.provider}:{name}"
    responses = [message.usage for message in messages if isinstance(message, ModelResponse)]
    unpriced = any(usage.total_tokens and usage.cost is None for usage in responses)
    used = {model: Usage(turns=1, runs=runs)}
    for phase, usage in phases.items():
        by = FLOW_MODELS if phase == FLOW else model
        found = Usage.of(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cache_read_tokens,
            requests=usage.requests,
            cost=None if phase == "main" and unpriced else usage.cost,
        )
        used[by] = used.get(by, Usage()) + found
    return used


@dataclass(kw_only=True)
class ResponseLimits(UsageLimits):
    """Limits of which those of tokens are checked when a response is complete, and before the next request.

    The framework also checks them at each event of a stream, and puts the response so far together each time, so that a
    long answer costs more with each of its pieces. Most providers say what a response has cost at its end.
    """

    def has_token_limits(self) -> bool:
        """Whether a stream is checked at each of its events."""
        return False


def answering_models(messages: Sequence[ModelMessage]) -> list[str]:
    """The names of the models that answered, in order, each once.

    Args:
        messages: of a conversation.
    """
    names = [message.model_name for message in messages if isinstance(message, ModelResponse) and message.model_name]
    return list(dict.fromkeys(names))
