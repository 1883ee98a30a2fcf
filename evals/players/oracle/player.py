"""The oracle: a player that knows the reference flow and builds it with the assistant's tools.

It derives its calls from the scenario's reference. What it cannot do, no model could do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager

from pydantic import JsonValue
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.assistant import Assistant
from agent.models.scripted import call, scripted
from agent.toolsets.selection import READ_TOOLS
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEvent
from evals.behaviours.families import Given
from evals.expectation import Expect, Expectation
from evals.play.environment import PlayEnvironment
from evals.players.oracle.closing import closing_words
from evals.players.oracle.edits import ToolCall, edit_calls
from evals.players.player import Agent, Unplayable
from evals.players.reading import classification
from evals.scenario import Scenario, Turn, Wrong
from evals.scenarios.flows import BadFlow, read_flow
from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from flows.spec import to_spec

FILE_WRITE_TOOLS = frozenset({"write_file", "edit_file"})
"""The tools that change the user's files."""
DEFAULT_ARGUMENTS: Mapping[str, JsonObject] = {
    "write_todos": {"todos": [{"content": "What was asked", "status": "completed"}]}
}
"""Arguments of tools that need some, if the scenario gives none."""

IDLE = "Hm."
"""The message of a wrong result that did nothing and has no reply: it claims and answers nothing."""


class OraclePlayer:
    """Plays the right result, an alternative or a wrong one, to test the scenarios themselves.

    Args:
        alternative: the number of the alternative to play, from 0; None is the reference.
        wrong: the number of the wrong result to play, from 0.
        calls: how many tool calls it makes of those that a message needs, to measure how much scenarios ask for; None
            is all.
    """

    name = "oracle"

    def __init__(self, *, alternative: int | None = None, wrong: int | None = None, calls: int | None = None) -> None:
        self._alternative = alternative
        self._wrong = wrong
        self._calls = calls
        if calls is not None:
            self.name = f"oracle-{calls}"

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """An agent that plans each turn from the current flow.

        Raises:
            Unplayable: the scenario is open, so there is no reference flow.
        """
        if scenario.open:
            raise Unplayable("the scenario is open: no reference flow is known")
        if self._alternative is not None:
            scenario = scenario.model_copy(update={"reference": scenario.alternatives[self._alternative]})
        if self._wrong is not None:
            scenario = with_wrong_result(scenario, scenario.wrong[self._wrong])
        return OracleAgent(scenario, environment, self._calls)


def with_wrong_result(scenario: Scenario, wrong: Wrong) -> Scenario:
    """A scenario whose target is a wrong result; without a flow, it only writes the files and replies."""
    turns = list(scenario.turns)
    if wrong.flow is None:
        turns = [turn.model_copy(update={"should": "answer", "run": None}) for turn in turns]
    idle = wrong.flow is None and not wrong.files
    said = turns[-1].reply if wrong.flow is not None else IDLE
    turns[-1] = turns[-1].model_copy(update={"reply": wrong.reply or said})
    expect = Expect() if idle else scenario.expect
    written = {path: Expectation(equals=content) for path, content in wrong.files.items()}
    if wrong.flow is not None and not scenario.acts:
        turns[-1] = turns[-1].model_copy(update={"should": "act"})
    expected = expect.model_copy(update={"files": written or expect.files})
    update = {"turns": tuple(turns), "reference": wrong.flow or scenario.reference, "expect": expected}
    return scenario.model_copy(update=update)


class OracleAgent:
    """One attempt of the oracle: one assistant, whose model follows the plan of the turn.

    Args:
        most: how many calls a plan has at most; None for as many as it needs.
    """

    def __init__(self, scenario: Scenario, environment: PlayEnvironment, most: int | None = None) -> None:
        self._scenario = scenario
        self._environment = environment
        self._most = most
        self._number = -1
        self._plan = OraclePlan([], "", "question", 0)
        self._assistant = Assistant(
            environment.settings,
            environment.runner,
            catalogue=environment.catalogue,
            model=scripted(self._respond, OraclePlayer.name),
        )

    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        """One turn; a request that only answers approvals continues the current plan.

        Raises:
            Unplayable: the tools do not lead to the reference flow.
        """
        if not request.answers:
            self._number += 1
            self._plan = self._planned(self._scenario.turns[self._number], request.flow or Flow.empty())
        return self._assistant.turn(request)

    async def aclose(self) -> None:
        """Close the assistant's connections."""
        await self._assistant.aclose()

    def _respond(self, _: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return self._plan.next(classifies=not info.function_tools)

    def _planned(self, turn: Turn, current: Flow) -> OraclePlan:
        changes = [*self._changes(turn, current), *_runs(turn)]
        derived = [made.tool for made in changes]
        calls = [*self._expected(derived), *changes][: self._most]
        tools = [made.tool for made in calls if made in changes]
        writes = any(made.tool in FILE_WRITE_TOOLS for made in calls)
        return OraclePlan(calls, closing_words(turn, tools, writes=writes), _label(calls), self._number + 1)

    def _expected(self, derived: Collection[str]) -> list[ToolCall]:
        """The calls that do not follow from a flow: tools that must be used and files that must be written.

        They are made in the last turn that acts, or in the first turn if none does.

        Args:
            derived: the tools that the turn's plan uses already.
        """
        acts, expect = self._scenario.acts, self._scenario.expect
        if self._number != (acts[-1] if acts else 0):
            return []
        missing = [use for use in expect.tools if use.tool not in derived]
        uses = [ToolCall(use.tool, use.arguments or DEFAULT_ARGUMENTS.get(use.tool, {})) for use in missing]
        written = [use.arguments.get("path") for use in expect.tools if use.tool in FILE_WRITE_TOOLS]
        files = [
            ToolCall("write_file", {"path": path, "content": rule.equals or rule.contains or ""})
            for path, rule in expect.files.items()
            if path not in written and not rule.met_by(self._scenario.files.get(path))
        ]
        return [*uses, *files]

    def _changes(self, turn: Turn, current: Flow) -> list[ToolCall]:
        text = turn.flow or self._scenario.reference
        if turn.should != "act" or text is None:
            return []
        try:
            target = read_flow(text, self._environment.component_types)
        except BadFlow as bad:
            raise Unplayable(f"the reference flow does not build: {bad}") from None
        if current.is_empty:
            spec = _spec(text, target, self._environment.component_types)
            return [ToolCall("build_flow", {"spec": spec, **_probes(self._scenario)})]
        return edit_calls(current, target, self._environment.component_types)


class OraclePlan:
    """Calls to make in order, and a final message, whatever the tools reply."""

    def __init__(self, calls: list[ToolCall], words: str, label: str, turn: int) -> None:
        self._calls = calls
        self._words = words
        self._label = label
        self._turn = turn
        self._made = 0

    def next(self, *, classifies: bool) -> ModelResponse:
        """The next response.

        Args:
            classifies: whether the request is to classify the message, not to act on it.
        """
        if classifies:
            return ModelResponse(parts=[TextPart(self._label)])
        if self._made >= len(self._calls):
            return ModelResponse(parts=[TextPart(self._words)])
        self._made += 1
        made = self._calls[self._made - 1]
        return ModelResponse(parts=[call(made.tool, self._made, self._turn, **made.arguments)])


def _label(calls: list[ToolCall]) -> str:
    intent, runs = _intent(calls), any(made.tool == "run_flow" for made in calls)
    return classification(intent, "", {"run": []} if runs else None)


def _intent(calls: list[ToolCall]) -> str:
    tools = {made.tool for made in calls} - READ_TOOLS
    if not tools:
        return "question"
    if tools <= {*FILE_WRITE_TOOLS, "run_flow"}:
        return "run_flow" if tools == {"run_flow"} else "manage_files"
    return "build_flow"


def _runs(turn: Turn) -> list[ToolCall]:
    return [] if turn.run is None else [ToolCall("run_flow", {"input": turn.run.input})]


def _probes(scenario: Scenario) -> dict[str, JsonValue]:
    """What a new flow is tried with: nothing chosen, unless the scenario says that its inputs have a form of their own.

    It says so by giving inputs by hand and deriving none; then one that it names is tried, such as a record or a table.
    """
    declared = scenario.inputs
    if declared is None or declared.derive:
        return {}
    asked = [turn.run.input for turn in scenario.turns if turn.run is not None]
    given = [text for family in declared.families if isinstance(family, Given) for text in family.texts]
    named = [text for text in (*asked, *(probe.input for probe in scenario.probes), *given) if text]
    return {"probes": {named[0]: ""}} if named else {}


def _spec(text: str, target: Flow, catalogue: Catalogue) -> str:
    return to_spec(target, catalogue) if text.lstrip().startswith("{") else text
