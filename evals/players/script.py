"""A player that follows the scenario's script: a model without judgement, for what must work whatever a model does."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import JsonValue
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.messages import UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent.assistant import Assistant
from agent.scripted import answered, call, scripted
from evals.players import Stage, Turns, Unplayable
from evals.scenario import Scenario, ScriptStep
from flows.spec import build

_ADDED = re.compile(r"Added ([\w-]+)\.")
_NAME = re.compile(r"\$([A-Za-z]\w*)\Z")


class ScriptPlayer:
    """Plays the scenarios that have a script."""

    name = "script"

    def seat(self, scenario: Scenario, stage: Stage) -> Turns:
        """An assistant whose model gives the script's answers."""
        if scenario.script is None:
            raise Unplayable(f"{scenario.id} has no script")
        ids = build(scenario.canvas, stage.catalogue).ids if scenario.canvas else {}
        model = script_model(scenario.script, scenario.prompts, ids)
        return Assistant(stage.settings, stage.runner, catalogue=stage.catalogue, model=model)


def script_model(
    script: Sequence[Sequence[ScriptStep]], prompts: Sequence[str], ids: Mapping[str, str]
) -> FunctionModel:
    """The model that plays a script.

    Args:
        script: the steps of each turn.
        prompts: the user's message of each turn; the one in the request tells which turn it is.
        ids: node ids by the names that `$name` may stand for.
    """
    names = dict(ids)

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if not info.function_tools:
            return ModelResponse(parts=[TextPart("action")])
        steps = script[_turn(messages, prompts)]
        replies = [str(part.content) for part in answered(messages)]
        for done, reply in zip(steps, replies, strict=False):
            if done.name and (added := _ADDED.match(reply)):
                names[done.name] = added.group(1)
        if len(replies) >= len(steps):
            return ModelResponse(parts=[TextPart("Done.")])
        step = steps[len(replies)]
        if step.tool is None:
            return ModelResponse(parts=[TextPart(step.say or "")])
        arguments = cast("dict[str, JsonValue]", _resolved(step.arguments, names))
        return ModelResponse(parts=[call(step.tool, len(replies) + 1, **arguments)])

    return scripted(respond, "script")


def _turn(messages: list[ModelMessage], prompts: Sequence[str]) -> int:
    """Which turn this is: the one whose message the last user prompt ends with."""
    said = [
        part.content
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart) and isinstance(part.content, str)
    ]
    last = said[-1] if said else ""
    matching = [number for number, prompt in enumerate(prompts) if last.endswith(prompt.strip())]
    return matching[-1] if matching else 0


def _resolved(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    """Arguments with every `$name` replaced by the node's id; an unknown name stays, and the tool says so."""
    match value:
        case str():
            named = _NAME.match(value)
            return names.get(named.group(1), value) if named else value
        case list():
            return [_resolved(item, names) for item in value]
        case dict():
            return {key: _resolved(item, names) for key, item in value.items()}
        case _:
            return value
