"""The demo planner: reads a message by rules, plans tool calls, and reports what they did."""

import re

from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent.demo.answers import answer
from agent.demo.changes import change, is_change, names_template
from agent.demo.components import Written, component, wants_component
from agent.demo.extending import extension_steps
from agent.demo.files import asked_file, file_steps
from agent.demo.language import Request, take_apart
from agent.demo.places import is_place, place_steps
from agent.demo.plan import CannotPlan, Plan, Step
from agent.demo.plan import step as plan_step
from agent.demo.recipes import Recipe, recipe, spec_with_file, wants_build
from agent.demo.rewording import is_rewording, rewording_steps
from agent.demo.stages import spec
from agent.language.detect import Language
from agent.language.phrases import phrase
from agent.models.providers import DEMO
from agent.models.scripted import call, scripted, tool_returns
from agent.turn.result import Intent
from tools.workbench import Workbench

ABILITIES = (
    "I am the demo planner: rules, not a language model. I can build an echo chat, a prompt template such as "
    "'Say it louder: {text}', changes of a text (case, replace, extract, split, count, trim, combine), a calculator, a "
    "router (if it contains 'a' answer 'b', otherwise 'c'), a chat with a model or an agent with tools, and chains of "
    "these; insert, add, remove, connect, replace, rename and set things on a flow; run it with an input; read and "
    "write your files; write a few small components; and answer questions about components. Set a provider's API key "
    "for everything else."
)

_ASKS = re.compile(
    r"^\s*(what|which|who|why|when|where|how|is|are|does|do|did|list|show|explain|describe|tell)\b|\?\s*$",
    re.IGNORECASE,
)
_POLITE = re.compile(r"^\s*(?:can|could|would|will)\s+you\s+(?:please\s+)?|^\s*please\s+", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\b(weather|joke|poem|song|recipe for|football|soccer|capital of|president|horoscope|stock price|movie|lottery"
    r"|wetter|clima|tiempo|météo|previsão|chiste|witz|blague|piada)\b",
    re.IGNORECASE,
)
_SECRETS = re.compile(
    r"\b(?:show|list|give|tell|read|print|what\s+are)\b.*\b(?:api\s+keys?|passwords?|secrets?|credentials)\b",
    re.IGNORECASE,
)
_AT_HOME = re.compile(
    r"\b(flow|component|prompt|canvas|node|langflow|bot|chat|template|run|agent|file|https?)\b", re.IGNORECASE
)


_PLAN_FIRST = re.compile(r"\bplan\b.{0,20}\bfirst\b|\b(?:show|tell|give)\s+me\s+(?:your|the|a)\s+plan\b", re.IGNORECASE)


_OF_THIS = re.compile(r"\b(?:make|set|let|have)\s+(?:my|the|this|it|its)\b", re.IGNORECASE)


def demo_intent(message: str) -> Intent:
    """What a message is for, by rules."""
    text = _POLITE.sub("", message)
    if not text.strip():
        return "question"
    request = take_apart(text)
    if _ELSEWHERE.search(request.text) and not _AT_HOME.search(request.text):
        return "off_topic"
    if _SECRETS.search(request.text) and not wants_build(request):
        return "off_topic"
    if file_steps(request) is not None or asked_file(request) is not None:
        return "manage_files"
    acts = any(is_change(clause) or is_place(clause) or is_rewording(clause) for clause in request.clauses)
    if wants_component(request) and not acts:
        written = component(request)
        return "component_then_flow" if written is not None and written.in_flow else "generate_component"
    runs = request.runs and not request.text
    reaches = "http://" in request.text or "https://" in request.text
    if _ASKS.search(request.text) and not acts and not runs and not reaches and not wants_build(request):
        return "question"
    return "run_flow" if runs else "build_flow"


def demo_model(bench: Workbench, message: str, turn: int) -> FunctionModel:
    """The model that plays the demo planner in one turn.

    Args:
        bench: what the turn's tools work on; the planner reads it between its steps.
        message: what the user asked.
        turn: the number of the turn within the conversation.
    """
    text = _POLITE.sub("", message)
    try:
        plan = _plan(text, bench)
    except CannotPlan as unable:
        plan = _unable(str(unable))

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = tool_returns(messages)
        if done and done[-1].outcome != "success":
            return _say(_stopped(bench, str(done[-1].content)))
        if len(done) >= len(plan.steps):
            return _say(plan.close([str(part.content) for part in done]))
        tool, arguments = plan.steps[len(done)]
        if tool not in {offered.name for offered in info.function_tools}:
            return _say(_stopped(bench, f"this needs {tool}, which is not to be had in this turn."))
        try:
            return ModelResponse(parts=[call(tool, len(done) + 1, turn, **arguments())])
        except CannotPlan as unable:
            return _say(_stopped(bench, str(unable)))

    return scripted(respond, DEMO)


def _plan(text: str, bench: Workbench) -> Plan:
    request = take_apart(text)
    files = file_steps(request)
    path = asked_file(request)
    if files is None and path is not None and not wants_build(request):
        files = [plan_step("read_file", path=path)]
    if files is not None:
        return Plan(steps=tuple(files), close=lambda answers: answers[-1])
    intent = demo_intent(text)
    if intent == "question":
        return answer(request, text, bench)
    if intent in ("generate_component", "component_then_flow"):
        return _component(request, bench)
    if not request.text and request.runs:
        return _acting([], request, bench)
    changing = any(is_change(clause) or is_place(clause) for clause in request.clauses)
    reworded = None if changing else rewording_steps(request.text, request.unmask, bench)
    if reworded is not None and not bench.current.is_empty:
        return _acting(reworded, request, bench)
    builds = wants_build(request) and (bench.current.is_empty or _OF_THIS.search(request.text) is None)
    found = recipe(request, text) if builds or (bench.current.is_empty and not names_template(request.text)) else None
    if found is not None:
        return _building(found, request, bench)
    if builds or (bench.current.is_empty and not any(is_change(one) for one in request.clauses)):
        return _nearest(request)
    steps, left_out = _changing(request, bench)
    return _acting(steps, request, bench, left_out=left_out)


def _changing(request: Request, bench: Workbench) -> tuple[list[Step], tuple[str, ...]]:
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
    extended = extension_steps(request, bench)
    if extended is None:
        said = "; ".join(left_out).replace('"', "'")
        raise CannotPlan(f'I don\'t know how to do this: "{said}". What exactly should change?')
    return extended, ()


def _building(found: Recipe, request: Request, bench: Workbench) -> Plan:
    if bench.attached:
        step = plan_step("build_flow", spec=spec_with_file(found, bench.attached[0][0]))
    elif found.template is not None:
        step = plan_step("use_template", name=found.template)
    else:
        step = plan_step("build_flow", spec=found.spec)
    return _acting([*_planned(found, request), step], request, bench, left_out=found.left_out)


def _planned(found: Recipe, request: Request) -> list[Step]:
    """The question whether the plan is right, when the user wants to see it first."""
    if _PLAN_FIRST.search(request.text) is None or found.spec is None:
        return []
    nodes = found.spec.partition("edges:")[0].partition("nodes:")[2].splitlines()
    listed = [f"{number}. {line.partition(': ')[2]}" for number, line in enumerate(filter(None, nodes), start=1)]
    return [plan_step("propose_plan", markdown="\n".join(["I would build a flow of:", *listed]))]


def _component(request: Request, bench: Workbench) -> Plan:
    written = component(request)
    if written is None:
        return _unable("I can't write this component.")
    steps: list[Step] = [("generate_component", lambda: {"source": written.source})]
    if written.in_flow:
        steps.append(("build_flow", lambda: {"spec": _around(written)}))
    return _acting(steps, request, bench)


def _around(written: Written) -> str:
    return spec(
        written.name,
        [("chat", "ChatInput"), ("step", written.name), ("answer", "ChatOutput")],
        ["chat.message -> step.text", "step.result -> answer.input_value"],
        [],
    )


def _acting(steps: list[Step], request: Request, bench: Workbench, *, left_out: tuple[str, ...] = ()) -> Plan:
    if request.runs:
        steps = [*steps, ("run_flow", lambda: {"input": request.input})]
    return Plan(steps=tuple(steps), close=lambda answers: _report(answers, bench, request.spoken, left_out))


def _nearest(request: Request) -> Plan:
    """A build that no recipe covers: say so, with the components that may help."""
    query = request.unmask(request.text)[:200]
    heading = phrase("planner_unable", request.spoken)
    return Plan(
        steps=(("search_components", lambda: {"query": query}),),
        close=lambda answers: f"{heading} Components that may help:\n{answers[-1]}\n\n{ABILITIES}",
    )


def _unable(reason: str) -> Plan:
    return Plan(close=lambda _: f"{reason}\n\n{ABILITIES}")


def _report(answers: list[str], bench: Workbench, spoken: Language, left_out: tuple[str, ...]) -> str:
    """What was done, from what the tools answered."""
    lines = [
        line
        for answer in answers
        if not answer.startswith(("It ran", "Built"))
        for line in [answer.split("\nnodes:")[0]]
    ]
    flow = bench.current
    if any(answer.startswith("Built") for answer in answers):
        nodes = " → ".join(node.display_name for node in sorted(flow.nodes, key=lambda node: node.position))
        lines.append(phrase("planner_built", spoken, name=flow.name, nodes=nodes))
    if left_out:
        lines.append(phrase("planner_left_out", spoken, parts="; ".join(left_out)))
    lines.extend(phrase("planner_note", spoken, caveat=caveat) for caveat in bench.caveats)
    if bench.runs and bench.runs[-1].error is None:
        output = bench.runs[-1].output
        lines.append(
            phrase("planner_ran_silently", spoken) if output is None else phrase("planner_ran", spoken, output=output)
        )
    return "\n".join(lines) or "There was nothing to do."


def _stopped(bench: Workbench, reason: str) -> str:
    """Why the plan ended early, and what was done before."""
    faults = [line[2:].partition(" Fix: ")[0] for line in reason.splitlines() if line.startswith("- ")]
    said = " ".join(faults) or reason  # what stands around the faults is for a model
    done = f" {len(bench.actions)} change(s) before that stand." if bench.actions else ""
    return f"I could not finish: {said}{done}"


def _say(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])
