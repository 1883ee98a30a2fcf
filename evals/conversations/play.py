"""Playing a conversation: every step with an agent, and what was not as expected after each."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TypeAlias

from pydantic_ai import FunctionToolResultEvent, ToolApproved, ToolDenied

from agent.assistant import Assistant
from agent.turn.request import Answer, TurnRequest
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from evals.conversations.course import EMPTY, ConversationCase, CourseMessage, CourseStep, Decided, WrongCourse
from evals.conversations.faults import faults_of_turn, file_faults, flow_faults
from evals.conversations.script import ScriptedVoice
from evals.play.addresses import with_addresses
from evals.play.bundles import without_bundles
from evals.play.environment import PlayEnvironment
from evals.play.flow_models import with_models
from evals.play.stub_services import serve
from evals.players.player import Agent, ClosableAgent
from evals.scenarios.flows import read_named
from flows.document import Flow
from runtime.files.store import UserFiles
from tools.events import Progress

TURN_SECONDS = 60.0
"""How long one step may take."""

Prepare: TypeAlias = Callable[[PlayEnvironment, ScriptedVoice], Agent]
"""Makes the agent of one conversation."""


class CourseError(Exception):
    """The harness cannot go on with a conversation; the message says why."""


@dataclass(kw_only=True)
class Played:
    """How a conversation went.

    Attributes:
        faults: what was not as expected, with its step.
        misfits: where the script of the right course does not fit: answers that nobody asked for, or too few.
        seconds: how long it took.
    """

    faults: list[str] = field(default_factory=list[str])
    misfits: list[str] = field(default_factory=list[str])
    seconds: float = 0.0


def assistant(environment: PlayEnvironment, voice: ScriptedVoice) -> Agent:
    """The assistant itself, in this process, with the scripted model."""
    return Assistant(
        environment.settings,
        environment.runner,
        catalogue=environment.catalogue,
        model=voice,
        bundles=environment.bundles,
    )


async def play_conversation(
    conversation: ConversationCase,
    environment: PlayEnvironment,
    *,
    course: WrongCourse | None = None,
    prepare: Prepare = assistant,
) -> Played:
    """Play a conversation.

    Args:
        conversation: the conversation.
        environment: the engine, the component types, the settings.
        course: the wrong course to take; None takes the right one.
        prepare: makes the agent.

    Raises:
        CourseError: a step cannot be played.
        BadFlow: a text is not a flow.
    """
    started = perf_counter()
    async with serve(conversation.services) as addresses:
        conversation = with_addresses(conversation, addresses)
        steps = conversation.steps if course is None else conversation.along(with_addresses(course, addresses))
        environment = replace(environment, runner=with_models(environment.runner, conversation.models))
        voice = ScriptedVoice(conversation, environment.catalogue)
        agent = prepare(without_bundles(environment, conversation.bundles), voice)
        try:
            player = _Player(conversation, environment, agent, voice)
            for number, step in enumerate(steps, start=1):
                async with asyncio.timeout(TURN_SECONDS):
                    await player.take(number, step)
        finally:
            if isinstance(agent, ClosableAgent):
                await agent.aclose()
    player.played.seconds = perf_counter() - started
    return player.played


class _StoredCanvas:
    """The canvas as it is stored, which a message that waited for another one reads again."""

    version: int | None = None

    def __init__(self) -> None:
        self.flow = Flow.empty()

    async def load(self) -> Flow:
        return self.flow

    async def save(self, canvas: Flow) -> None:
        self.flow = canvas


class _Player:
    """The user of one conversation, and what they see."""

    def __init__(
        self, conversation: ConversationCase, environment: PlayEnvironment, agent: Agent, voice: ScriptedVoice
    ) -> None:
        user = f"eval-{secrets.token_hex(4)}"  # nothing is shared with an earlier play
        self._request = TurnRequest(text="", session=f"{user}-{conversation.id}", user=user)
        self._catalogue = environment.catalogue
        self._agent, self._voice = agent, voice
        self._folder = UserFiles(environment.settings.data, user)
        for path, content in conversation.files.items():
            self._folder.write(path, content)
        self._stored = _StoredCanvas()
        self._canvas = self._flow("the canvas", conversation.canvas or EMPTY)
        self._last: TurnResult | None = None
        self.played = Played()

    async def take(self, number: int, step: CourseStep) -> None:
        """Play one step, and note what is not as expected after it."""
        if step.canvas is not None:
            self._canvas = self._flow(f"the canvas before step {number}", step.canvas)
            self._voice.learn(step.canvas)
        self._voice.begin(step.messages)
        found = [result for result in await self._results(step) if result is not None]
        for message, result in zip(step.messages, found, strict=False):
            told = self._voice.sent_text(message)
            self._note(number, [*faults_of_turn(message.expect, result, told, self._catalogue)])
        for message in step.messages:
            expected = message.expect.flow
            if expected is not None and message is step.messages[-1]:
                self._note(number, [*flow_faults("the canvas", expected, self._canvas, self._catalogue)])
            self._note(number, [*file_faults(message.expect.files, self._folder)])
            if step.interrupt is None and self._voice.unused_answers(message):
                self.played.misfits.append(
                    f"step {number}: {self._voice.unused_answers(message)} answers were not asked for"
                )
        if self._voice.beyond and step.interrupt is None:
            self.played.misfits.append(f"step {number}: {self._voice.beyond} answers too few")
        self._voice.beyond = 0

    def _note(self, number: int, faults: Sequence[str]) -> None:
        self.played.faults += [f"step {number}: {fault}" for fault in faults]

    def _flow(self, name: str, text: str) -> Flow:
        return Flow.empty() if text == EMPTY else read_named(name, text, self._catalogue)

    async def _results(self, step: CourseStep) -> list[TurnResult | None]:
        """The results of a step's messages, in the order in which they were answered."""
        if step.meanwhile is None:
            return [await self._turn(step, interrupt=step.interrupt)]
        self._voice.held = True
        self._voice.reached.clear()
        self._voice.released.clear()
        first = asyncio.create_task(self._turn(step))
        try:
            await self._voice.reached.wait()
            second = asyncio.create_task(self._turn(step.meanwhile, on_wait=self._voice.released))
            return [await first, await second]
        finally:
            self._voice.released.set()
            first.cancel()

    async def _turn(
        self, message: CourseMessage, *, interrupt: str | None = None, on_wait: asyncio.Event | None = None
    ) -> TurnResult | None:
        """Take one turn; None when it was interrupted."""
        request = self._request.model_copy(
            update={
                "text": message.say,
                "files": message.attach,
                "answers": self._answers(message.answers),
                "flow": None if self._canvas.is_empty else self._canvas,
            }
        )
        self._stored.flow = self._canvas
        if isinstance(self._agent, Assistant):
            stream = self._agent.turn(request, self._stored)
        else:
            stream = self._agent.turn(request)
        async with stream as events:
            result = await _ended(events, interrupt, on_wait)
        if result is not None:
            self._canvas = result.after
            if result.outcome != "error":  # what waits goes on waiting
                self._last = result
        elif interrupt is None:
            raise CourseError(f"{message.say!r} ended without a result")
        else:
            self._canvas = getattr(stream, "canvas", self._canvas)
        return result

    def _answers(self, decisions: dict[str, Decided]) -> dict[str, Answer]:
        """The answers by id: of approvals by their kind, of the proposal, or of what is named itself."""
        found: dict[str, Answer] = {}
        waits = {} if self._last is None else self._last.approvals
        for name, decided in decisions.items():
            calls = [call for call, approval in waits.items() if approval.kind == name]
            offered = None if self._last is None else self._last.proposal_id
            ids = [offered] if name == "proposal" and offered else calls or [name]
            found.update(dict.fromkeys(ids, _answer(decided)))
        return found


async def _ended(
    events: AsyncIterator[TurnEvent], interrupt: str | None, on_wait: asyncio.Event | None
) -> TurnResult | None:
    """The result of a turn; None when it is left because a tool has answered.

    Args:
        events: the turn's.
        interrupt: the tool.
        on_wait: set once the turn waits for another one.
    """
    with contextlib.ExitStack() as stack:
        if on_wait is not None:
            stack.callback(on_wait.set)
        async for event in events:
            if on_wait is not None and isinstance(event, Progress) and event.message.startswith("Waiting"):
                on_wait.set()
            if isinstance(event, TurnEnded):
                return event.result
            if isinstance(event, FunctionToolResultEvent) and event.part.tool_name == interrupt:
                return None
    return None


def _answer(decided: Decided) -> Answer:
    if isinstance(decided, str):
        return ToolApproved() if decided == "approve" else ToolDenied()
    return ToolApproved() if decided.decision == "approve" else ToolDenied(decided.reason)
