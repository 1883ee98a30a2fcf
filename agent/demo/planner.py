"""The demo planner: reads a message by rules, plans tool calls, and reports what they did."""

import re

from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent.demo.answers import answer
from agent.demo.changes import changes, is_change
from agent.demo.language import Request, take_apart
from agent.demo.plan import CannotPlan, Plan, Step
from agent.demo.recipes import recipe, wants_build
from agent.providers import DEMO
from agent.scripted import answered, call, scripted
from agent.turn import Intent
from tools.workbench import Workbench

ABILITIES = (
    "I am the demo planner: rules, not a language model. I can build an echo chat, a prompt template such as "
    "'Say it louder: {text}', a text extraction (emails, links, numbers or a pattern) or a combination of texts; add, "
    "remove, connect, disconnect and set things on a flow; run it with an input; and answer questions about "
    "components. Set a provider's API key for everything else."
)

_ASKS = re.compile(
    r"^\s*(what|which|who|why|when|where|how|is|are|does|do|did|list|show|explain|describe|tell)\b|\?\s*$",
    re.IGNORECASE,
)
_POLITE = re.compile(r"^\s*(?:can|could|would|will)\s+you\s+(?:please\s+)?|^\s*please\s+", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\b(weather|joke|poem|song|recipe for|football|soccer|capital of|president|horoscope|stock price|movie|lottery)\b",
    re.IGNORECASE,
)
_AT_HOME = re.compile(r"\b(flow|component|prompt|canvas|node|langflow|bot|chat|template|run)\b", re.IGNORECASE)


def demo_intent(message: str) -> Intent:
    """What a message is for, by rules."""
    text = _POLITE.sub("", message)
    if not text.strip():
        return "question"
    if _ELSEWHERE.search(text) and not _AT_HOME.search(text):
        return "off_topic"
    request = take_apart(text)
    acts = any(is_change(clause) for clause in request.clauses) or (request.runs and not request.text)
    return "question" if _ASKS.search(text) and not acts and not wants_build(request) else "action"


def demo_model(bench: Workbench, message: str) -> FunctionModel:
    """The model that plays the demo planner in one turn.

    Args:
        bench: what the turn's tools work on; the planner reads it between its steps.
        message: what the user asked.
    """
    text = _POLITE.sub("", message)
    try:
        plan = _plan(text, bench)
    except CannotPlan as unable:
        plan = _unable(str(unable))

    def respond(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        done = answered(messages)
        if done and done[-1].outcome == "retried":
            return _say(_stopped(bench, str(done[-1].content)))
        if len(done) == len(plan.steps):
            return _say(plan.close([str(part.content) for part in done]))
        tool, arguments = plan.steps[len(done)]
        try:
            return ModelResponse(parts=[call(tool, len(done) + 1, **arguments())])
        except CannotPlan as unable:
            return _say(_stopped(bench, str(unable)))

    return scripted(respond, DEMO)


def _plan(text: str, bench: Workbench) -> Plan:
    request = take_apart(text)
    if demo_intent(text) == "question":
        return answer(request, text, bench)
    if wants_build(request):
        spec = recipe(request, text)
        if spec is None:
            return _nearest(request)
        return _acting([("build_flow", lambda: {"spec": spec})], request, bench)
    if not request.text and request.runs:
        return _acting([], request, bench)
    return _acting(changes(request, bench), request, bench)


def _acting(steps: list[Step], request: Request, bench: Workbench) -> Plan:
    if request.runs:
        steps = [*steps, ("run_flow", lambda: {"input": request.input})]
    return Plan(steps=tuple(steps), close=lambda answers: _report(answers, bench))


def _nearest(request: Request) -> Plan:
    """A build that no recipe covers: say so, with the components that may help."""
    query = request.unmask(request.text)[:200]
    return Plan(
        steps=(("search_components", lambda: {"query": query}),),
        close=lambda answers: f"I can't plan this flow. Components that may help:\n{answers[-1]}\n\n{ABILITIES}",
    )


def _unable(reason: str) -> Plan:
    return Plan(close=lambda _: f"{reason}\n\n{ABILITIES}")


def _report(answers: list[str], bench: Workbench) -> str:
    """What was done, from what the tools answered."""
    lines = [
        line
        for answer in answers
        if not answer.startswith(("It ran", "Built"))
        for line in [answer.split("\nnodes:")[0]]
    ]
    flow = bench.current
    if any(answer.startswith("Built") for answer in answers):
        names = " → ".join(node.display_name for node in sorted(flow.nodes, key=lambda node: node.position))
        lines.append(f"I built {flow.name!r}: {names}.")
    lines.extend(f"Note: {caveat}" for caveat in bench.caveats)
    if bench.runs and bench.runs[-1].error is None:
        output = bench.runs[-1].output
        lines.append("I ran it." if output is None else f"I ran it; it answered: {output}")
    return "\n".join(lines) or "There was nothing to do."


def _stopped(bench: Workbench, reason: str) -> str:
    """Why the plan ended early, and what was done before."""
    done = f" {len(bench.actions)} change(s) before that stand." if bench.actions else ""
    return f"I could not finish: {reason}{done}"


def _say(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])
