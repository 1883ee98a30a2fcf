"""The models inside a scenario's flows: they answer by its rules, instead of a provider."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolReturnPart
from pydantic_ai.messages import SystemPromptPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import scripted
from evals.play.word_vectors import WordVectors
from evals.scenario import ModelRule
from flows.document import Flow
from runtime.gateway.models import Models
from runtime.options import RunOptions
from runtime.results import RunResult
from tools.workbench import FlowRunner

NO_ANSWER = "(no rule of the scenario fits)"
"""The answer if no rule matches: a text that no expectation contains."""


def rule_models(rules: Sequence[ModelRule]) -> Models:
    """Models that answer by a scenario's rules, whatever their names."""

    def respond(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        prompt = _prompt(messages)
        matching = (rule.say for rule in rules if rule.when is None or re.search(rule.when, prompt))
        return ModelResponse(parts=[TextPart(next(matching, NO_ANSWER))])

    model = scripted(respond, "scenario")
    return Models(resolve=lambda _: model, embed=lambda _: WordVectors())


def with_models(runner: FlowRunner, rules: Sequence[ModelRule]) -> FlowRunner:
    """A runner whose runs call the scenario's models; without rules, the runner itself."""
    return cast("FlowRunner", _WithModels(runner, rule_models(rules))) if rules else runner


class _WithModels:
    """A runner that gives every run the same models; everything else is delegated."""

    def __init__(self, runner: FlowRunner, models: Models) -> None:
        self._runner = runner
        self._models = models

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Run a flow with the scenario's models."""
        return await self._runner.execute(flow, text, replace(options, models=self._models))


def _prompt(messages: Sequence[ModelMessage]) -> str:
    """All system prompts, prompts and tool results that a model was sent, in order."""
    parts = [part for message in messages for part in message.parts]
    sent = [part for part in parts if isinstance(part, UserPromptPart | SystemPromptPart | ToolReturnPart)]
    return "\n".join(_text(part) for part in sent)


def _text(part: UserPromptPart | SystemPromptPart | ToolReturnPart) -> str:
    return part.model_response_str() if isinstance(part, ToolReturnPart) else str(part.content)
