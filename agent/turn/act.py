"""Acting on a message: opens the workbench, runs the agent once, and settles its proposal."""

import asyncio
from collections.abc import Sequence
from functools import partial

from pydantic_ai import BinaryContent, DeferredToolRequests, DeferredToolResults, ModelMessage, ModelResponse
from pydantic_ai.settings import ModelSettings

from agent.conversation.later_runs import LaterRuns
from agent.conversation.memory import Pending
from agent.demo.planner import DemoPlanner, demo_planner
from agent.errors import AssistantUnavailable
from agent.language.phrases import phrase
from agent.language.questions import questions_in_words
from agent.models.caching import cache_settings
from agent.models.usage import ResponseLimits
from agent.prompts.framing import mentions_values
from agent.prompts.images import read_images, sees_images
from agent.prompts.user_prompt import instructions
from agent.toolsets.client import name_taken, refused_name
from agent.toolsets.selection import all_tools, tools_for, unlisted_for
from agent.turn.loop import AgentLoop
from agent.turn.record import display_names
from agent.turn.request import ToolAnswered
from agent.turn.result import TurnError, TurnResult
from agent.turn.settle import settle
from agent.turn.state import Turn
from flows.document import Flow
from runtime.files.search import files_about
from tools.approvals import ToolApproval, is_held, read_approval, read_rest
from tools.consent.ask import read_consents
from tools.consent.others import holds_others_text
from tools.effects import RunEffect
from tools.events import Progress
from tools.verify import verify
from tools.workbench import INSTALLING, Workbench


async def open_workbench(turn: Turn, pending: Pending | None = None) -> Workbench:
    """Open the workbench of a turn.

    Args:
        turn: the turn.
        pending: the suspended turn that this one resumes, whose proposal is restored.

    Raises:
        AssistantUnavailable: the component types are unavailable, or one of the flow's own has a fault.
    """
    services, request = turn.services, turn.request
    if not services.knows_components:
        await turn.send(Progress(step="preparing_runner", message=INSTALLING))
    catalogue = await services.catalogue()
    request = request.model_copy(update={"flow": turn.before})
    bench = turn.bench = services.workbench(request, catalogue, turn.choice)
    if bench.user_components is not None:
        bench.catalogue, faults = await bench.user_components.catalogue(catalogue)
        if bench.catalogue is not catalogue:
            bench.own_components = tuple(one.type for one in bench.catalogue if one.type not in catalogue)
        if faults:
            message = f"One of the flow's own components cannot be used: line {faults[0].line}: {faults[0].message}"
            raise AssistantUnavailable(TurnError(code="invalid_component", message=message, fix=faults[0].fix))
    await turn.steps.on_bench("workbench", bench, partial(_set_up, turn, bench, pending), "read")
    if services.later_runs is not None:
        bench.run_later = partial(_run_later, turn, services.later_runs)
    return bench


async def _set_up(turn: Turn, bench: Workbench, pending: Pending | None) -> None:
    """Give a workbench what the request, the conversation and the suspended turn have for it."""
    services, request = turn.services, turn.request
    bench.auto_plan = request.apply == "always"
    bench.auto_edit = bench.auto_plan or (pending is not None and pending.apply == "always")
    turn.conversation.carry_on(bench)
    bench.request_text = "\n".join(dict.fromkeys((turn.text, turn.original_text, turn.classification.english)))
    if bench.user_files is not None and not bench.user_files.is_known_empty:
        bench.attached = await asyncio.to_thread(files_about, bench.user_files, request.files, turn.text)
    bench.mandate = turn.classification.mandate
    bench.run_asked = turn.runs or turn.classification.intent == "run_flow" or bench.mandate.asks("run")
    bench.tainted = (
        bool(bench.own_components)
        or bool(request.context)
        or any(path not in turn.text for path, _ in bench.attached)
        or holds_others_text(bench.flow, bench.catalogue)
        or mentions_values(turn.text)
        or any(earlier.tainted for earlier in turn.conversation.turns)
    )
    if pending is not None and any(isinstance(one, ToolAnswered) for one in pending.answers.values()):
        bench.tainted = True
    bench.accepted = turn.accepts_proposal and bench.proposal is not None
    if pending is not None:
        bench.accepted = pending.accepted
        bench.proposal, bench.proposed = pending.proposal, pending.proposed and pending.proposal is not None
        bench.max_attempts = request.max_attempts or pending.max_attempts
        bench.caveats.extend(pending.caveats)
        bench.names.update(pending.names)
        bench.draft = pending.draft
        bench.tainted = bench.tainted or pending.tainted
    await turn.conversation.settle_answered(bench, turn.send)
    if services.later_runs is not None:
        bench.run_log.extend(services.later_runs.take(request.user, request.session))


def _run_later(turn: Turn, later: LaterRuns, flow: Flow) -> None:
    """Have a flow run as soon as the engine is there; the conversation's next turn says how it went."""

    async def runs() -> list[RunEffect]:
        bench = turn.services.workbench(turn.request, await turn.services.catalogue(), turn.choice)
        await verify(_ignore_event, bench, flow)
        return bench.run_log

    later.add(turn.request.user, turn.request.session, runs)


async def _ignore_event(event: object) -> None:
    """Take an event of a run that no turn streams."""


async def act(
    turn: Turn,
    bench: Workbench,
    message: str | None,
    *,
    history: Sequence[ModelMessage] = (),
    answers: DeferredToolResults | None = None,
    must_act: bool = True,
) -> TurnResult:
    """Run the agent and settle its proposal.

    Args:
        turn: the turn.
        bench: its workbench.
        message: the framed message; None when the turn is resumed.
        history: the messages before it was suspended.
        answers: the user's answers to its approvals.
        must_act: whether to try again after an answer without any action.
    """
    settings, intent, demo = turn.services.settings, turn.classification.intent, turn.choice.is_demo
    planner = _planner(turn, bench) if demo else None
    listed = all_tools() if demo else tools_for(intent, bench, turn.english)
    unlisted = [] if demo else unlisted_for(intent, listed)
    at = refused_name(turn.client_tools, all_tools())
    if at is not None:
        raise AssistantUnavailable(name_taken(turn.client_tools[at].name))
    loop = turn.loop = AgentLoop(
        model=await turn.model() if planner is None else turn.steps.model(planner.model, turn.forward),
        bench=bench,
        instructions=instructions(intent),
        toolsets=[*listed, *unlisted],
        client_tools=turn.client_tools,
        unlisted=frozenset(name for toolset in unlisted for name in toolset.tools),
        send=turn.send,
        usage=turn.usage["main"],
        limits=ResponseLimits(
            request_limit=settings.request_limit,
            tool_calls_limit=settings.tool_limit,
            total_tokens_limit=settings.token_limit if turn.request.token_limit is None else turn.request.token_limit,
        ),
        acts=intent != "question",
        images=await _images(turn, bench),
        checks_claims=not demo and intent != "question",
        language=turn.language_code,
        phrases=turn.language,
        asked=turn.requested_acts,
        done=lambda: turn.done,
        context_tokens=settings.context_tokens,
        settings=ModelSettings() if demo else cache_settings(turn.choice, turn.request.user, turn.request.session),
        steps=turn.steps,
    )
    output = await loop.run(message, history=history, answers=answers, must_act=must_act)
    if isinstance(output, DeferredToolRequests):
        pending = _pending(turn, bench, output)
        return turn.result("pending", waiting_text(turn, pending), pending=pending)
    turn.answer = "" if demo else output  # the demo planner reports only what its tools answered
    offered = bench.proposal if bench.proposed or bench.proposal_ran or bench.accepted else None
    settlement = settle(bench.flow, offered, agreed=bench.proposal_ran or bench.accepted)
    if settlement.kind == "applied":
        await turn.send(bench.accept(settlement.canvas))
    elif settlement.kind == "offered":
        await turn.send(Progress(step="flow_proposal_ready", message="The flow is ready for you to look at."))
    result = turn.result("refused" if planner is not None and planner.declines else "complete", output)
    result.record.disagrees = loop.disagrees
    if loop.disagrees or not output:
        result.text = f"{result.record.text}\n\n{output}".strip()
    return result


async def _images(turn: Turn, bench: Workbench) -> list[BinaryContent]:
    """The images that the message came with, for a model that sees them."""
    if not turn.request.files or bench.user_files is None or not sees_images(turn.choice.names):
        return []
    return await asyncio.to_thread(read_images, bench.user_files, turn.request.files)


def _planner(turn: Turn, bench: Workbench) -> DemoPlanner:
    return demo_planner(bench, turn.original_text, turn.conversation.turn_number, turn.language, turn.wanted)


def _pending(turn: Turn, bench: Workbench, requests: DeferredToolRequests) -> Pending:
    read = turn.classification
    calls = [call.tool_call_id for call in requests.approvals]
    client = {call.tool_call_id: ToolApproval.of(call.tool_name, call.args_as_dict()) for call in requests.calls}
    return Pending(
        text=turn.original_text,
        english=read.english,
        language=read.language,
        mandate=read.mandate,
        intent=read.intent,
        model=turn.request.model,
        apply=turn.request.apply,
        max_attempts=bench.max_attempts,
        messages=turn.messages,
        approvals={
            call: read_approval(requests.metadata[call]) for call in calls if not is_held(requests.metadata[call])
        }
        | client,
        calls=[*calls, *client],
        tools=turn.client_tools,
        consents={call: list(read_consents(requests.metadata[call])) for call in calls},
        rests={call: rest for call in calls if (rest := read_rest(requests.metadata[call]))},
        names=bench.names,
        draft=bench.draft,
        record=turn.record.after(turn.earlier),
        canvas=bench.flow,
        proposal=bench.proposal,
        proposed=bench.proposed,
        accepted=bench.accepted,
        turn=turn.conversation.origin,
        caveats=bench.caveats,
        tainted=bench.tainted,
    )


def waiting_text(turn: Turn, pending: Pending) -> str:
    """The text of a turn that waits: what the model wrote, or what was done so far; and what only words can ask."""
    last = next((message for message in reversed(turn.messages) if isinstance(message, ModelResponse)), None)
    text = "" if last is None else (last.text or "").strip()
    names = display_names(turn.before, turn.canvas)
    asked = questions_in_words(pending.unanswered.values(), turn.language, names)
    if not text:
        done = turn.record.text if turn.bench is not None and turn.bench.acted else ""
        waits = "" if asked or not pending.asked else phrase("waiting", turn.language)
        text = "\n".join(filter(None, (done, waits)))
    return "\n\n".join(filter(None, (text, *asked)))
