"""A player that follows the scenario's script, for behaviour that must not depend on a model."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import JsonValue
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.messages import UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent.assistant import Assistant
from agent.models.scripted import call, last_prompt, scripted, tool_returns
from agent.prompts.frames import unframed
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent, Unplayable
from evals.players.reading import classification
from evals.scenario import Scenario, ScriptStep
from evals.scenarios.flows import spec_ids
from flows.catalogue import Catalogue
from flows.spec import build

_ADDED = re.compile(r"(?:Added|Inserted|Copied \S.* as|Replaced \S.* by) (.+?)[.:](?:\s|$)")
_NAME = re.compile(r"\$([A-Za-z]\w*)\Z")


class ScriptPlayer:
    """Plays the scenarios that have a script."""

    name = "script"

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """An assistant whose model gives the script's answers."""
        if not any(turn.script for turn in scenario.turns):
            raise Unplayable(f"{scenario.id} has no script")
        model = script_model(scenario, environment.component_types)
        return Assistant(environment.settings, environment.runner, catalogue=environment.catalogue, model=model)


def script_model(scenario: Scenario, catalogue: Catalogue) -> FunctionModel:
    """A model that plays a scenario's script."""
    script = [turn.script or () for turn in scenario.turns]
    names = spec_ids(scenario.canvas, catalogue) if scenario.canvas else dict[str, str]()

    turn = 0

    def learn(step: ScriptStep, reply: str) -> None:
        """Remember the ids of the nodes that a step added."""
        spec = step.arguments.get("spec")
        if step.tool == "build_flow" and isinstance(spec, str):
            names.update(build(spec, catalogue).ids)
        elif step.name and (added := added_id(reply)):
            names[step.name] = added

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        nonlocal turn
        if not info.function_tools:  # the classification, with which every turn begins
            turn += 1
            return _say(classification("build_flow", last_prompt(messages)))
        steps = script[_turn(messages, scenario.prompts)]
        replies = [unframed(str(part.content)) for part in tool_returns(messages)]
        if replies and len(replies) <= len(steps):
            learn(steps[len(replies) - 1], replies[-1])
        if len(replies) >= len(steps):
            return _say("Done.")
        step = steps[len(replies)]
        if step.tool is None:
            return _say(step.say or "")
        arguments = cast("dict[str, JsonValue]", resolved(step.arguments, names))
        return ModelResponse(parts=[call(step.tool, len(replies) + 1, turn, **arguments)])

    return scripted(respond, ScriptPlayer.name)


def added_id(reply: str) -> str | None:
    """The id of the node that a tool says it has added, if it does."""
    added = _ADDED.match(reply)
    return added and added.group(1)


def _say(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])


def _turn(messages: list[ModelMessage], prompts: Sequence[str]) -> int:
    """Which turn this is: the one whose message ends the last user prompt that ends with one."""
    said = [
        part.content
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart) and isinstance(part.content, str)
    ]
    matching = [number for text in said for number, prompt in enumerate(prompts) if text.endswith(prompt.strip())]
    return matching[-1] if matching else 0


def resolved(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    """Arguments with every `$name` replaced by the node's id; an unknown name stays, and the tool says so."""
    match value:
        case str():
            named = _NAME.match(value)
            return names.get(named.group(1), value) if named else value
        case list():
            return [resolved(item, names) for item in value]
        case dict():
            return {key: resolved(item, names) for key, item in value.items()}
        case _:
            return value
