"""The demo planner: reads a message by rules, plans tool calls, and says what they did."""

import re
from collections.abc import Iterable

from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent.demo.builds import Build, flow_for, spec_text, with_file
from agent.demo.canvas import component_answer, diagnosis, explanation, template_list
from agent.demo.edits import edit, in_order, wants_edit
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
    asked_of,
    asks_about_components,
    demo_intent,
    is_of_a_flow,
    refusal,
    small_talk,
    without_courtesy,
)
from agent.demo.plan import CannotPlan, Plan, Step
from agent.demo.plan import step as plan_step
from agent.demo.reading import Reading, read
from agent.demo.replies import reply
from agent.demo.stages import spec
from agent.models.providers import DEMO
from agent.models.scripted import call, scripted, tool_returns
from agent.prompts.frames import unframed
from flows.describe.actions import summarize
from flows.diff import diff
from flows.document import Flow
from tools.workbench import Workbench

__all__ = ["ABILITIES", "demo_intent", "demo_model", "refusal"]

ABILITIES = reply("abilities", "en")
_FOR_A_MODEL = re.compile(
    r"\b(?:tell|ask) the user\b|\bbuild one first\b|\bdo not (?:ask|call|build|repeat)\b|\b[a-z]+_[a-z]+\b|^Fix: ",
    re.IGNORECASE,
)
"""A sentence of a tool's answer that tells a model what to do."""
_CHANGES = ("added", "removed", "connected", "changed")
_OF_THIS = re.compile(r"\b(?:make|set|let|have)\s+(?:my|the|this|it|its)\b", re.IGNORECASE)


def demo_model(bench: Workbench, message: str, turn: int, wanted: str = "") -> FunctionModel:
    """The model that plays the demo planner in one turn.

    Args:
        bench: what the turn's tools work on; the planner reads it between its steps.
        message: what the user asked.
        turn: the number of the turn within the conversation.
        wanted: what the user wants otherwise than it was proposed, when the turn is resumed with such a wish.
    """
    language = read(message).language
    plan = _plan_or_question(f"{message}\n{wanted}".strip(), bench)
    steps = [step for step in plan.steps if not (wanted and step[0] == "propose_plan")]

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = tool_returns(messages)
        denied = [number for number, part in enumerate(done) if part.outcome == "denied"]
        if denied and not wanted:
            return _say(reply("denied", language))
        done = done[denied[-1] + 1 :] if denied else done
        if done and done[-1].outcome != "success":
            return _say(_stopped(bench, unframed(str(done[-1].content)), language))
        if len(done) >= len(steps):
            return _say(plan.close([unframed(str(part.content)) for part in done]))
        tool, arguments = steps[len(done)]
        if tool not in {offered.name for offered in info.function_tools}:
            return _say(_stopped(bench, f"{tool}?", language))
        try:
            return ModelResponse(parts=[call(tool, len(tool_returns(messages)) + 1, turn, **arguments())])
        except CannotPlan as unable:
            return _say(_stopped(bench, str(unable), language))

    return scripted(respond, DEMO)


def _plan_or_question(message: str, bench: Workbench) -> Plan:
    try:
        return _plan(message, bench)
    except CannotPlan as unable:
        return _saying(str(unable))


def _plan(message: str, bench: Workbench) -> Plan:
    text = without_courtesy(message)
    request, reading = take_apart(text), read(asked_of(message))
    refused = refusal(message)
    if refused is not None:
        return _saying(refused)
    files = file_steps(request)
    path = asked_file(request)
    if files is None and path is not None and not reading.has("build"):
        files = [plan_step("read_file", path=path)]
    if files is not None:
        return Plan(steps=tuple(files), close=lambda answers: answers[-1])
    intent = demo_intent(message, bench.flow)
    if intent == "question":
        return _answering(request, reading, text, bench)
    if intent in ("generate_component", "component_then_flow"):
        return _component(request, reading, bench)
    if not request.text and request.runs and bench.current.is_empty:
        return _saying(reply("empty", reading.language))
    if not request.text and request.runs:
        return _acting([], request, reading, bench)
    if "nodes:" in text:
        return _building(Build(spec_text(text)), request, reading, bench)
    return _flow_plan(message, request, reading, bench)


def _flow_plan(message: str, request: Request, reading: Reading, bench: Workbench) -> Plan:
    """A plan that builds a flow or changes the one on the canvas.

    Raises:
        CannotPlan: no rule knows the change.
    """
    if not bench.current.is_empty or names_template(request.text):
        changed = _change(request, reading, bench)
        if changed is not None:
            return changed
    found = flow_for(request, reading)
    if found is not None:
        if not bench.current.is_empty and not reading.has("build"):
            raise CannotPlan(reply("which_change", reading.language, said=reading.message.strip()[:200]))
        return _building(found, request, reading, bench)
    if small_talk(message) is None and not bench.current.is_empty and not reading.left_out:
        raise CannotPlan(reply("which_change", reading.language, said=reading.message.strip()[:200]))
    if bench.current.is_empty and is_of_a_flow(reading):
        return _saying(reply("empty", reading.language))
    return _saying(small_talk(message) or reply("unable", reading.language))


def _change(request: Request, reading: Reading, bench: Workbench) -> Plan | None:
    """A plan that changes the flow on the canvas, or None when a message asks for a new one.

    Raises:
        CannotPlan: no rule knows the change.
    """
    if names_template(request.text):
        return _acting([change(request.text, request, bench)], request, reading, bench)
    adds_step = reading.has("add") and any(one.step or one.tool or one.name == "memory" for one in reading.recipes)
    if (
        adds_step
        and not reading.quotes
        and not any(is_place(clause) or " between " in clause for clause in request.clauses)
    ):
        return _acting([plan_step("edit_flow", changes=edit(reading, bench))], request, reading, bench)
    if acts(request) or rewording_steps(request.text, request.unmask, bench) is not None:
        steps, left_out = _changing(request, bench, reading)
        return _acting(steps, request, reading, bench, left_out=left_out)
    if not wants_edit(reading, bench.current) and _OF_THIS.search(request.text) is None:
        return None
    extended = extension_steps(request, bench)
    if extended is None:
        extended = [plan_step("edit_flow", changes=edit(reading, bench))]
    return _acting(extended, request, reading, bench)


def _answering(request: Request, reading: Reading, text: str, bench: Workbench) -> Plan:
    """A plan that answers a question."""
    flow, language = bench.current, reading.language
    exact = answer(request, text, bench) if language == "en" else None
    if exact is not None:
        return exact
    if reading.has("broken", "fix") and not reading.recipes:
        return _saying(reply("empty", language) if flow.is_empty else diagnosis(flow, bench.catalogue, language))
    if not flow.is_empty and reading.has("explain", "flow") and not reading.has("component"):
        return _saying(explanation(flow, language))
    if reading.has("templates") and not reading.has("component"):
        return _saying(template_list(language))
    if asks_about_components(reading) or reading.has("component"):
        told = component_answer(reading, bench.catalogue)
        if told is not None:
            return _saying(told)
    talk = small_talk(reading.message)
    if talk is not None:
        return _saying(talk)
    if reading.has("explain", "broken"):
        return _saying(reply("empty", language) if flow.is_empty else explanation(flow, language))
    if flow.is_empty and is_of_a_flow(reading) and not reading.asks:
        return _saying(reply("empty", language))
    if reading.has("component"):
        return Plan(
            steps=(plan_step("search_components", query=reading.message[:200]),),
            close=lambda answers: _listed(answers[-1], language),
        )
    return _saying(reply("off_topic", language))


def _listed(found: str, language: str) -> str:
    if not found.startswith("- "):
        return reply("no_component", language)
    return f"{reply('components', language)}\n{found}"


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
    raise CannotPlan(reply("which_change", reading.language, said=reading.message.strip()[:200]))


def _building(found: Build, request: Request, reading: Reading, bench: Workbench) -> Plan:
    text = with_file(found.spec, bench.attached[0][0]) if bench.attached else found.spec
    steps = [*_planned(text, reading), plan_step("build_flow", spec=text)]
    told = reading.only_told if "model" in text else []
    notes = (*found.needs, *([reply("only_told", reading.language, parts=_quoted(told))] if told else []))
    return _acting(steps, request, reading, bench, left_out=(*reading.left_out, *found.missing), notes=notes)


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
        return _saying(reply("unable", reading.language))
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
) -> Plan:
    if request.runs:
        steps = [*steps, ("run_flow", lambda: {"input": request.input})]
    before = bench.current
    return Plan(steps=tuple(steps), close=lambda _: _report(before, bench, reading.language, left_out, notes))


def _report(before: Flow, bench: Workbench, language: str, left_out: tuple[str, ...], notes: tuple[str, ...]) -> str:
    """What was done, read off the canvas and the runs."""
    flow = bench.current
    lines: list[str] = []
    if bench.proposal is not None and (before.is_empty or not _shares(before, flow)):
        nodes = " → ".join(node.display_name for node in in_order(flow))
        lines.append(reply("built", language, name=flow.name, nodes=nodes))
    elif flow != before:
        lines.append(reply("done", language, changes=_changes(before, flow, language)))
    if left_out:
        lines.append(reply("left_out", language, parts=_quoted(left_out)))
    lines.extend(notes)
    lines.extend(_caveat(caveat, flow, language) for caveat in bench.caveats)
    if bench.runs:
        run = bench.runs[-1]
        if run.error is not None:
            lines.append(reply("run_failed", language, error=run.error.message))
        else:
            lines.append(reply("ran_silently" if run.output is None else "ran", language, output=run.output))
    return "\n".join(dict.fromkeys(lines)) or reply("unchanged", language)


def _shares(before: Flow, after: Flow) -> bool:
    return bool({node.id for node in before.nodes} & {node.id for node in after.nodes})


def _changes(before: Flow, after: Flow, language: str) -> str:
    """The changes from one flow to another, in words."""

    def name(node_id: str) -> str:
        node = after.node(node_id) or before.node(node_id)
        return node_id if node is None else node.display_name

    said: dict[str, None] = {}
    for action in diff(before, after):
        summary = summarize(action)
        names = " → ".join(name(node) for node in summary.nodes)
        if summary.effect in _CHANGES and names:
            what = f"{names}: {summary.names[0]}" if summary.effect == "changed" and summary.names else names
            said[reply(summary.effect, language, what=what)] = None
    return "; ".join(said) or reply("unchanged", language)


def _caveat(caveat: str, flow: Flow, language: str) -> str:
    """Why what was built could not be run, in the user's language where there are words for it."""
    if language != "en":
        file = next((node for node in flow.nodes if node.type == "File"), None)
        if re.search(r"\bfiles?\b", caveat) and file is not None:
            return reply("file_needed", language, name=file.display_name)
        if re.search(r"\b(?:keys?|model)\b", caveat):
            return reply("key_needed", language)
    return reply("note", language, caveat=caveat)


def _stopped(bench: Workbench, reason: str, language: str) -> str:
    """Why the plan ended early, and what was done before."""
    faults = [line[2:].partition(" Fix: ")[0] for line in reason.splitlines() if line.startswith("- ")]
    sentences = re.split(r"(?<=[.!?])\s+", reason)
    said = " ".join(faults or [one for one in sentences if _FOR_A_MODEL.search(one) is None])
    done = f" {len(bench.actions)} change(s) before that stand." if bench.actions else ""
    return f"{reply('stopped', language, reason=said)}{done}"


def _saying(text: str) -> Plan:
    return Plan(close=lambda _: text)


def _quoted(parts: Iterable[str]) -> str:
    """Pieces of the user's message, marked as theirs."""
    return "; ".join(f"«{part}»" for part in dict.fromkeys(parts))


def _say(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])
