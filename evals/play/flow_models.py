"""The models inside a scenario's flows: they answer by its rules, instead of a provider."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from pydantic import JsonValue
from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import SystemPromptPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import scripted
from evals.play.word_vectors import WordVectors
from evals.replies.clauses import is_forbidden
from evals.scenario import ModelRule
from flows.document import Flow
from runtime.gateway.models import Models
from runtime.options import RunOptions
from runtime.results import RunResult
from tools.workbench import FlowRunner

ECHO = "{echo}"
"""What stands for the echo in an answer."""

_PLAIN: Final[Mapping[str, object]] = {"integer": 1, "number": 1.0, "boolean": True, "array": (), "object": {}}
"""What a tool gets for what is no text, by type."""

NO_ANSWER = "(no rule of the scenario fits)"
"""The answer if no rule matches: a text that no expectation contains."""


def rule_models(rules: Sequence[ModelRule]) -> Models:
    """Models that answer by a scenario's rules, whatever their names."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = _Asked.of(messages, info)
        rule = next((rule for rule in rules if asked.fits(rule)), None)
        calls = [] if rule is None else tool_calls(rule, messages, info)
        if calls:
            return ModelResponse(parts=calls)
        if rule is not None and (rule.echo or rule.form) and not info.allow_text_output:
            return ModelResponse(parts=[_filled_form(rule, asked.request, info)])
        return ModelResponse(parts=[TextPart(NO_ANSWER if rule is None else _answer(rule, asked))])

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


def _answer(rule: ModelRule, asked: _Asked) -> str:
    quoted = asked.results if rule.calls else asked.request
    if rule.quote is not None and (found := re.search(rule.quote, quoted)) is not None:
        return found.group(1)
    if rule.echo is None:
        return rule.say
    echo = echo_of(rule.echo, asked.request)
    return rule.say.replace(ECHO, echo) if ECHO in rule.say else f"{rule.say} {echo}"


def echo_of(pattern: str, prompt: str, field: str = "") -> str:
    """What a model echoes of a prompt: a code of the prompt, then every match of the pattern once, in order.

    Args:
        field: the field of a form that it stands in, which changes the code.
    """
    code = hashlib.sha256(f"{field}\n{prompt}".encode()).hexdigest()[:4]
    found = dict.fromkeys(match.group() for match in re.finditer(pattern, prompt))
    return f"‹{code}: {'; '.join(found)}›"


def _filled_form(rule: ModelRule, prompt: str, info: AgentInfo) -> ToolCallPart:
    """The call of the tool that must be called, every argument filled in."""
    tool = info.function_tools[0]
    schema = tool.parameters_json_schema
    filled = _filled(schema, schema.get("$defs", {}), rule, prompt, "")
    return ToolCallPart(tool.name, cast("dict[str, Any]", filled))


def _filled(schema: Any, definitions: Any, rule: ModelRule, prompt: str, name: str) -> JsonValue:
    """A value of a JSON schema: the rule's own for its name, else what the rule echoes, one of each list."""
    if name in rule.form:
        return rule.form[name]
    if "$ref" in schema:
        return _filled(definitions[schema["$ref"].rpartition("/")[2]], definitions, rule, prompt, name)
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        fields = schema.get("properties", {}).items()
        return {key: _filled(value, definitions, rule, prompt, key) for key, value in fields}
    if kind == "array":
        return [_filled(schema.get("items", {}), definitions, rule, prompt, name)]
    numbers: dict[str, JsonValue] = {"integer": 1, "number": 1.0, "boolean": True}
    if kind in numbers:
        return numbers[kind]
    return rule.say if rule.echo is None else echo_of(rule.echo, prompt, name)


def tool_calls(rule: ModelRule, messages: Sequence[ModelMessage], info: AgentInfo) -> list[ToolCallPart]:
    """The calls of a rule for the last message, by the tools' names; none once a tool has answered after it.

    So an agent's answer depends on which tools are connected to it and on what they give, and on nothing else: the same
    request always leads to the same calls.
    """
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    prompts = [(at, str(part.content)) for at, part in enumerate(parts) if isinstance(part, UserPromptPart)]
    if not rule.calls or not prompts:
        return []
    asked, text = prompts[-1]
    if any(isinstance(part, ToolReturnPart) for part in parts[asked:]):
        return []
    calls = list[ToolCallPart]()
    for tool in sorted(info.function_tools, key=lambda tool: tool.name):
        described = f"{tool.name} {tool.description or ''}"
        part = next((part for pattern, part in rule.calls.items() if re.search(pattern, described)), None)
        found = None if part is None else re.search(part, text)
        if found is not None:
            arguments = _arguments(tool.parameters_json_schema, found.group())
            calls.append(ToolCallPart(tool.name, arguments, tool_call_id=f"call-{asked}-{len(calls)}"))
    return calls


def _arguments(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Values for what a tool needs: the text for texts and for a list of texts, something plain for the rest."""
    fields: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    needed = schema.get("required") or list(fields)
    return {name: _argument(fields.get(name, {}), text) for name in needed}


def _argument(field: Mapping[str, Any], text: str) -> Any:
    kind = str(field.get("type"))
    if kind == "array" and field.get("items", {}).get("type") == "string":
        return [text]
    return _PLAIN.get(kind, text)


@dataclass(frozen=True)
class _Asked:
    """What a model was asked: all system prompts, prompts and tool results in order, and what it may call.

    Attributes:
        system: the system prompts alone.
        results: the tool results alone.
    """

    request: str
    system: str
    results: str
    tools: frozenset[str]

    @classmethod
    def of(cls, messages: Sequence[ModelMessage], info: AgentInfo) -> _Asked:
        parts = [part for message in messages for part in message.parts]
        sent = [part for part in parts if isinstance(part, UserPromptPart | SystemPromptPart | ToolReturnPart)]
        system = [_text(part) for part in sent if isinstance(part, SystemPromptPart)]
        instructions = [info.instructions] if info.instructions else []
        return cls(
            request="\n".join([*instructions, *(_text(part) for part in sent)]),
            system="\n".join([*instructions, *system]),
            results="\n".join(_text(part) for part in sent if isinstance(part, ToolReturnPart)),
            tools=frozenset(tool.name for tool in info.function_tools),
        )

    def fits(self, rule: ModelRule) -> bool:
        """Whether a rule answers this."""
        return (
            (rule.when is None or _holds(self.request, rule.when))
            and (rule.system is None or _holds(self.system, rule.system))
            and (rule.lacks is None or not _holds(self.request, rule.lacks))
            and (rule.tools is None or self.tools == frozenset(rule.tools))
        )


def _holds(text: str, pattern: str) -> bool:
    """Whether a text has what a pattern finds, and does not say the opposite of it."""
    return any(not is_forbidden(text, *found.span()) for found in re.finditer(pattern, text))


def _text(part: UserPromptPart | SystemPromptPart | ToolReturnPart) -> str:
    return part.model_response_str() if isinstance(part, ToolReturnPart) else str(part.content)
