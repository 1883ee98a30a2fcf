"""The demo planner: reads a message by rules, plans tool calls, and says what they did."""

import re
from dataclasses import dataclass, replace

from pydantic_ai import ModelMessage, ModelResponse, TextPart

from agent.demo.answers import revised
from agent.demo.building.builds import Build, flow_for, spec_text, undone_parts, with_file
from agent.demo.building.roles import prompt_between
from agent.demo.building.stages import spec
from agent.demo.canvas import (
    component_answer,
    component_list,
    diagnosis,
    explanation,
    nothing_there,
    quoted,
    report,
    stopped,
    template_list,
)
from agent.demo.concepts.meanings import concept_meaning
from agent.demo.edits import added_step, described_removal, edit, named_components, unknown_change, wants_edit
from agent.demo.exact.answers import answer
from agent.demo.exact.changes import change, is_change, names_template
from agent.demo.exact.components import Written, component
from agent.demo.exact.extending import extension_steps
from agent.demo.exact.files import asked_file, file_steps
from agent.demo.exact.language import Request, take_apart
from agent.demo.exact.places import is_place, place_steps
from agent.demo.exact.rewording import rewording_steps
from agent.demo.intent import (
    acts,
    asks_about_components,
    asks_about_own_model,
    demo_intent,
    is_of_a_flow,
    refusal,
    small_talk,
    without_courtesy,
    without_run,
)
from agent.demo.keeping import keeping_step
from agent.demo.plan import CannotPlan, Plan, Step
from agent.demo.plan import step as plan_step
from agent.demo.reading import Reading, read
from agent.demo.replies import reply
from agent.language.replies import is_too_short_for_language, plain_reply
from agent.language.requests import asks_run
from agent.models.providers import DEMO
from agent.models.scripted import AgentInfo, FunctionModel, call, scripted, tool_returns
from agent.prompts.frames import unframed
from flows.catalogue import Catalogue
from flows.document import Flow
from tools.workbench import Workbench

__all__ = ["ABILITIES", "DemoPlanner", "demo_intent", "demo_planner", "refusal"]

ABILITIES = reply("abilities", "en")
_OF_THIS = re.compile(r"\b(?:make|set|let|have)\s+(?:my|the|this|it|its)\b", re.IGNORECASE)

_AT_A_PLACE = re.compile(r"\b(?:after|before|between|behind)\s+the\s+(?:ones?|steps?|nodes?|parts?)\b", re.IGNORECASE)
"""A place between components that is described: no rule finds it."""


@dataclass(frozen=True)
class DemoPlanner:
    """The demo planner in one turn.

    Attributes:
        model: the model that plays it.
        declines: whether it only says that it cannot do what was asked.
    """

    model: FunctionModel
    declines: bool


def demo_planner(bench: Workbench, message: str, turn: int, language: str, wanted: str = "") -> DemoPlanner:
    """The planner that answers one message.

    Args:
        bench: what the turn's tools work on; the planner reads it between its steps.
        message: what the user asked.
        turn: the number of the turn within the conversation.
        language: the language of the conversation, for a message that is in none of its own.
        wanted: what the user wants otherwise than it was proposed, when the turn is resumed with such a wish.
    """
    spoken = language if is_too_short_for_language(message) else read(message).language
    plan = _revised_plan(message, wanted, bench, spoken) if wanted else _plan_or_question(message, bench, spoken)
    model = _model(plan, bench, turn, spoken, wanted=bool(wanted))
    return DemoPlanner(model, plan.declines)


def _revised_plan(message: str, wanted: str, bench: Workbench, language: str) -> Plan:
    """A plan with what the user wants otherwise; one that says so when the wish changes nothing."""
    before = _plan_or_question(message, bench, language)
    plan = _plan_or_question(revised(message, wanted), bench, language)
    if not plan.steps or _calls(plan) == _calls(before):
        return _declining(reply("cannot_wish", language, said=wanted.strip()[:200]))
    return replace(plan, steps=tuple(step for step in plan.steps if step[0] != "propose_plan"))


def _calls(plan: Plan) -> list[tuple[str, object]]:
    """The calls of a plan as they would be made now."""
    found: list[tuple[str, object]] = []
    for tool, arguments in plan.steps:
        try:
            found.append((tool, arguments()))
        except CannotPlan as unable:
            found.append((tool, str(unable)))
    return found


def _model(plan: Plan, bench: Workbench, turn: int, language: str, *, wanted: bool) -> FunctionModel:
    """The model that carries a plan out."""
    steps = plan.steps

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = tool_returns(messages)
        denied = [number for number, part in enumerate(done) if part.outcome == "denied"]
        if denied and not wanted:
            return _say(reply("denied", language))
        done = done[denied[-1] + 1 :] if denied else done
        if done and done[-1].outcome != "success":
            return _say(stopped(bench, unframed(str(done[-1].content)), language))
        if len(done) >= len(steps):
            return _say(plan.close([unframed(str(part.content)) for part in done]))
        tool, arguments = steps[len(done)]
        if tool not in {offered.name for offered in info.function_tools}:
            return _say(stopped(bench, f"{tool}?", language))
        try:
            return ModelResponse(parts=[call(tool, len(tool_returns(messages)) + 1, turn, **arguments())])
        except CannotPlan as unable:
            return _say(stopped(bench, str(unable), language))

    return scripted(respond, DEMO, free=True)


def _plan_or_question(message: str, bench: Workbench, language: str) -> Plan:
    if is_too_short_for_language(message):
        return _brief(message, bench, language)
    try:
        return _plan(message, bench)
    except CannotPlan as unable:
        return _declining(str(unable))


def _brief(message: str, bench: Workbench, language: str) -> Plan:
    """A plan for a message that is too short to ask for anything: a yes or no that nothing waits for, or a greeting."""
    talk = small_talk(message, language)
    if plain_reply(message) == "deny" or (talk is not None and plain_reply(message) is None):
        return _saying(talk or "")
    if talk is not None or bench.current.is_empty:
        return _declining(talk or reply("off_topic", language))
    return _declining(reply("which_change", language, said=message.strip()))


def _plan(message: str, bench: Workbench) -> Plan:
    text = without_courtesy(message)
    request, reading = take_apart(text), read(without_run(message), message)
    refused = refusal(message)
    if refused is not None:
        return _declining(refused)
    files = file_steps(request)
    path = asked_file(request)
    if files is None and path is not None and not reading.has("build"):
        files = [plan_step("read_file", path=path)]
    if files is not None:
        return Plan(steps=tuple(files), close=lambda answers: answers[-1])
    intent = demo_intent(message, bench.current)
    if intent == "question" or (intent == "off_topic" and bench.attached):
        return _answering(request, reading, text, bench)
    if intent in ("generate_component", "component_then_flow"):
        return _component(request, reading, bench)
    if not request.text and request.runs:
        empty = bench.current.is_empty
        return _declining(reply("empty", reading.language)) if empty else _acting([], request, reading, bench)
    if "nodes:" in text:
        return _building(Build(spec_text(text)), request, reading, bench)
    return _flow_plan(message, request, reading, bench)


def _flow_plan(message: str, request: Request, reading: Reading, bench: Workbench) -> Plan:
    """A plan that builds a flow or changes the one on the canvas.

    Raises:
        CannotPlan: no rule knows the change.
    """
    of_this = reading.of_the_flow or reading.removes_step
    if bench.current.is_empty and of_this and not names_template(request.text):
        return _declining(reply("empty", reading.language))
    if not bench.current.is_empty or names_template(request.text):
        changed = _change(request, reading, bench)
        if changed is not None:
            return changed
    found = flow_for(request, reading)
    if found is not None:
        if not bench.current.is_empty and (reading.has("this_flow") or not reading.has("build")):
            raise unknown_change(reading)
        return _building(found, request, reading, bench)
    talk = small_talk(message)
    if talk is None and not bench.current.is_empty and not reading.impossible_parts:
        raise unknown_change(reading)
    if bench.current.is_empty and is_of_a_flow(reading):
        return _declining(nothing_there(reading, bench.catalogue))
    return _declining(reply("unable", reading.language)) if talk is None else _saying(talk)


def _change(request: Request, reading: Reading, bench: Workbench) -> Plan | None:
    """A plan that changes the flow on the canvas, or None when a message asks for a new one.

    Raises:
        CannotPlan: no rule knows the change.
    """
    if names_template(request.text):
        return _acting([change(request.text, request, bench)], request, reading, bench)
    keeping = keeping_step(reading, bench)
    if keeping is not None:
        return _acting([keeping], request, reading, bench)
    changes = described_removal(reading, bench) or prompt_between(reading, bench.current)
    if changes is not None:
        return _acting([plan_step("edit_flow", changes=changes)], request, reading, bench)
    adds_step = reading.has("add") and any(one.step or one.tool or one.name == "memory" for one in reading.recipes)
    placed = any(is_place(clause) or " between " in clause for clause in request.clauses)
    added = None if placed else added_step(reading, bench.current)
    if added is not None:
        return _acting([plan_step("edit_flow", changes=added)], request, reading, bench)
    if adds_step and not reading.quotes and not placed:
        return _acting([plan_step("edit_flow", changes=edit(reading, bench))], request, reading, bench)
    if acts(request) or rewording_steps(request.text, request.unmask, bench) is not None:
        steps, left_out = _changing(request, bench, reading)
        return _acting(steps, request, reading, bench, left_out=left_out)
    if not wants_edit(reading, bench.current) and _OF_THIS.search(request.text) is None:
        return None
    if _AT_A_PLACE.search(request.text):
        raise unknown_change(reading)
    extended = extension_steps(request, bench)
    if extended is None:
        extended = [plan_step("edit_flow", changes=edit(reading, bench))]
    return _acting(extended, request, reading, bench)


def _answering(request: Request, reading: Reading, text: str, bench: Workbench) -> Plan:
    """A plan that answers a question."""
    language = reading.language
    if reading.asks_how_to_use_own_component:
        return _saying(reply("own_component", language))
    if asks_about_own_model(reading):
        return _saying(reply("own_model", language))
    concept = concept_meaning(text, bench.catalogue)
    if concept is not None:
        return _saying(concept)
    exact = answer(request, text, bench) if language == "en" else None
    if exact is not None:
        return exact
    talk = small_talk(reading.message)
    if bench.attached and talk is None and not reading.has("component", "templates", "this_flow"):
        return _declining(reply("file_question", language))
    about_flow = _about_flow(reading, bench)
    if about_flow is not None:
        return about_flow
    named = asks_about_components(reading) and bool(named_components(reading.message, bench.catalogue))
    if reading.has("templates") and not reading.has("component") and not named:
        return _saying(template_list(language))
    if asks_about_components(reading) or reading.has("component"):
        told = component_answer(reading, bench.catalogue)
        if told is not None:
            return _saying(told)
    if talk is not None:
        return _saying(talk)
    return _answering_the_rest(reading, bench.current, bench.catalogue)


def _about_flow(reading: Reading, bench: Workbench) -> Plan | None:
    """A plan that answers a question about the flow on the canvas; None for one about something else."""
    flow, language = bench.current, reading.language
    if reading.has("broken", "fix") and not reading.recipes:
        return (
            _declining(reply("empty", language))
            if flow.is_empty
            else _saying(diagnosis(flow, bench.catalogue, language))
        )
    if flow.is_empty:
        return None
    if reading.of_the_flow and reading.has("showing"):
        return _saying(f"{explanation(flow, language)}\n{reply('as_text', language)}")
    if reading.has("explain", "flow", "insides") and not reading.has("component"):
        return _saying(explanation(flow, language))
    return None


def _answering_the_rest(reading: Reading, flow: Flow, catalogue: Catalogue) -> Plan:
    """A plan for a question that no rule answers: what the flow does, or why there is nothing to say."""
    language = reading.language
    of_a_flow = reading.has("explain", "broken", "insides") or reading.of_the_flow
    if flow.is_empty and (of_a_flow or (is_of_a_flow(reading) and not reading.asks)):
        return _declining(nothing_there(reading, catalogue))
    if of_a_flow:
        return _saying(explanation(flow, language))
    if reading.has("component"):
        return Plan(
            steps=(plan_step("search_components", query=reading.message[:200]),),
            close=lambda answers: component_list(answers[-1], language),
        )
    if not flow.is_empty and reading.asks and not reading.has("elsewhere"):
        key = "try_it" if reading.has("would_say") else "about_flow"
        return _declining(f"{reply(key, language)}\n{explanation(flow, language)}")
    return _declining(reply("off_topic", language))


def _changing(request: Request, bench: Workbench, reading: Reading) -> tuple[list[Step], tuple[str, ...]]:
    """The steps of every clause that is understood, and the clauses that are not.

    Raises:
        CannotPlan: when none is understood.
    """
    steps: list[Step] = []
    left_out: list[str] = []
    for clause in request.clauses:
        placed = place_steps(clause, request.unmask, bench) or rewording_steps(clause, request.unmask, bench)
        if placed is not None:
            steps.extend(placed)
        elif is_change(clause):
            steps.append(change(clause, request, bench))
        else:
            left_out.append(request.unmask(clause))
    if steps:
        return steps, tuple(left_out)
    raise unknown_change(reading)


def _building(found: Build, request: Request, reading: Reading, bench: Workbench) -> Plan:
    text = with_file(found.spec, bench.attached[0][0]) if bench.attached else found.spec
    steps = [*_planned(text, reading), plan_step("build_flow", spec=text)]
    undone, told = undone_parts(text, reading)
    notes = (*found.needs, *([reply("only_told", reading.language, parts=quoted(told))] if told else []))
    left_out = (*reading.impossible_parts, *found.missing, *undone)
    return _acting(steps, request, reading, bench, left_out=left_out, notes=notes, builds=True)


def _planned(text: str, reading: Reading) -> list[Step]:
    """The question whether the plan is right, when the user wants to see it first."""
    if not reading.has("plan"):
        return []
    nodes = text.partition("edges:")[0].partition("nodes:")[2].splitlines()
    listed = [f"{number}. {line.partition(': ')[2]}" for number, line in enumerate(filter(None, nodes), start=1)]
    return [plan_step("propose_plan", markdown="\n".join(["I would build a flow of:", *listed]))]


def _component(request: Request, reading: Reading, bench: Workbench) -> Plan:
    written = component(request)
    if written is None:
        return _declining(reply("unable", reading.language))
    steps: list[Step] = [("generate_component", lambda: {"source": written.source})]
    if written.in_flow:
        steps.append(("build_flow", lambda: {"spec": _around(written)}))
    return _acting(steps, request, reading, bench)


def _around(written: Written) -> str:
    return spec(
        written.name,
        [("chat", "ChatInput"), ("step", written.name), ("answer", "ChatOutput")],
        ["chat.message -> step.text", "step.result -> answer.input_value"],
        [],
    )


def _acting(
    steps: list[Step],
    request: Request,
    reading: Reading,
    bench: Workbench,
    *,
    left_out: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    builds: bool = False,
) -> Plan:
    if request.runs:
        steps = [*steps, ("run_flow", lambda: {"input": request.input})]
    elif asks_run(reading.message):
        notes = (*notes, reply("run_unread", reading.language))
    before = Flow.empty() if builds else bench.current
    return Plan(steps=tuple(steps), close=lambda _: report(before, bench, reading.language, left_out, notes))


def _saying(text: str) -> Plan:
    return Plan(close=lambda _: text)


def _declining(text: str) -> Plan:
    return Plan(close=lambda _: text, declines=True)


def _say(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])
