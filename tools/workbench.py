"""The workbench: what the tools of one turn share, and the only place that changes the turn's flow."""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, Protocol, TypeAlias

from pydantic_ai import CustomEvent

from flows.actions import Amend, Configure, FlowAction, SelectOutput, SetConnectionMode, SetFlow, SetToolMode, apply
from flows.bundles import BundleIndex, bundle_index
from flows.catalogue import Catalogue
from flows.checks import check
from flows.component_type import ComponentType
from flows.document import Flow, JsonObject
from flows.edits import Edit, name_default_models
from flows.edits.placing import tidied
from flows.faults import Fault
from flows.merge import merge
from flows.spec.parse import Spec
from runtime.components.store import UserComponents
from runtime.egress.policy import HostRule
from runtime.files.store import UserFiles
from runtime.gateway.models import Models
from runtime.options import KeepsVariables, RunOptions
from runtime.results import ModelUsage, RunError, RunResult
from runtime.sessions.memory import SessionMemory
from runtime.telemetry import log_event
from tools.effects import InstallEffect, PlanEffect, RunEffect
from tools.events import FileChange, FlowPreview, FlowUpdate, Progress, Todo
from tools.mandate import Mandate
from tools.undo_stack import UndoStack


class FlowRunner(Protocol):
    """Runs flows: the real runner, or a stand-in in tests."""

    @property
    def state(self) -> str:
        """The runner's state: `new`, `installing`, `starting`, `ready`, `failed` or `closed`."""
        ...

    @property
    def failure(self) -> RunError | None:
        """Why it cannot run flows, while the state is `failed`."""
        ...

    async def ready(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds until flows can run; returns whether they can."""
        ...

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Run a flow once with `text` as its input; a flow that fails is a result with an error, not an exception."""
        ...


READY_SECONDS = 300.0
"""How long a turn waits for a runner that is still being installed or started."""


async def wait_for_runner(runner: FlowRunner, seconds: float) -> RunError | None:
    """Wait until a runner is ready, for at most `seconds`; returns why flows cannot run, or None when they can."""
    if await runner.ready(seconds):
        return None
    return runner.failure or RunError(
        code="timeout", message="The flow engine is still being prepared.", fix="Try again in a minute."
    )


INSTALLING = "Installing the flow engine (only the first time)..."

CACHED_READS = 100
"""Catalogue reads whose answers are cached during a turn; the oldest is dropped first."""

MAX_ATTEMPTS = 3
"""How many attempts a turn has at most to build a flow or generate a component that passes its checks."""

Install: TypeAlias = Callable[[list[str], Callable[[str], None]], Awaitable[Catalogue]]
"""Installs packages with component types, calling its second argument with messages for the user; gives all types."""

Emit: TypeAlias = Callable[[CustomEvent], Awaitable[object]]
"""Emits an event of a turn: a tool's `ctx.emit`, or the turn's own `send`."""


@dataclass
class Workbench:
    """The dependencies of one turn's agent run.

    Attributes:
        user: the user's id.
        session: the conversation's id.
        catalogue: the component types that may be used.
        runner: runs flows.
        flow: the canvas. Only `commit` and `accept` change it.
        proposal: the flow built in this turn or an earlier one that the user has not accepted yet.
        actions: every change to the canvas this turn, in order.
        runs: the user's runs in this turn, without verification runs.
        caveats: what could not be verified, in words for the user.
        proposal_caveat: the one of them that is about the proposal.
        failures: fingerprints of the specs and flows that failed, to notice a model that repeats itself.
        proposal_ran: whether the current proposal was run for the user.
        has_model: whether the assistant's model serves the model fields that are left open.
        models: the language models that flows may call; None leaves the choice to the runner.
        flow_usage: what those models used, including verification runs.
        files: the changes to the user's files this turn, in order.
        user_files: the user's files; None when there is no folder for them.
        user_variables: the variables that the user keeps, for runs; None for none.
        attached: those of the user's files that the message is about, with their sizes.
        todos: the agent's list of steps.
        auto_edit: whether texts on the canvas are replaced without an approval.
        auto_plan: whether plans are carried out without an approval.
        undo_stack: the earlier turns that changed the canvas.
        rewound: how many of `actions` undid or redid earlier turns.
        proposed: whether the proposal was made or changed this turn, and is to be offered at its end.
        offers: the proposals of earlier turns that were not accepted, by id.
        own_components: the names of the component types that are the user's own.
        open_offer: which of them still waits for the user; the turn begins with it as its proposal.
        cached_reads: the answers of this turn's catalogue reads.
        user_components: creates and stores the user's components; None when components cannot be created.
        components: the component types created this turn, in order.
        component_failures: the sources that failed, to notice a model that repeats itself.
        request_text: the message and its translation.
        mandate: the effects that the message asks for, as the classifier read it.
        run_asked: whether the message asks for a run.
        tainted: whether the model has read text that the user did not write: a value, a file, a run's output.
        memory: the messages of the conversation's runs; None keeps none after this process.
        max_attempts: how many specs, or component sources, may be tried this turn, from 1.
        draft: the last spec given to `build_flow`, parsed, and its lines that have errors; a correction changes it.
        names: ids of the components built or added this turn, by the names that the model gave them.
        foreign_hosts: the hosts in the flow that earlier turns took from others' text, and that the user has not named.
        allowed_hosts: the hosts to which the user has agreed this turn.
        host_rule: whether runs may reach public hosts; with `ask`, the user is asked about every host of a flow.
        refused_bundles: the bundles that the user said no to in earlier turns.
        waits: whether a call waits for an approval; those that follow it in the same answer wait too.
        refused_in: the step of the agent's run in which a change was refused last.
        accepted: whether the user has said yes to the proposal that the turn began with, and asked for more.
        wanted: the words in which the user asked for another text than the one proposed, by component id and field.
        initial_flow: the canvas when the turn began.
        applied: the flow that was built this turn and put on the canvas.
        run_log: every run of this turn in order, verification runs too.
        plans: what became of plans this turn.
        installs: what became of installs this turn.
        install: installs bundles that the user has agreed to; None when nothing can be installed.
        may_run: whether the user may run flows; a flow that is built is verified all the same.
        index: the bundles that can be installed; None takes those that ship with the package.
        run_later: has a flow run as soon as the engine is installed; None when a flow that is built waits for that.
    """

    user: str
    session: str
    catalogue: Catalogue
    runner: FlowRunner
    flow: Flow
    proposal: Flow | None = None
    actions: list[FlowAction] = field(default_factory=list[FlowAction])
    runs: list[RunResult] = field(default_factory=list[RunResult])
    caveats: list[str] = field(default_factory=list[str])
    proposal_caveat: str = ""
    failures: list[str] = field(default_factory=list[str])
    proposal_ran: bool = False
    has_model: bool = True
    models: Models | None = None
    flow_usage: ModelUsage = field(default_factory=ModelUsage)
    files: list[FileChange] = field(default_factory=list[FileChange])
    user_files: UserFiles | None = None
    user_variables: KeepsVariables | None = None
    attached: tuple[tuple[str, int], ...] = ()
    todos: list[Todo] = field(default_factory=list[Todo])
    auto_edit: bool = False
    auto_plan: bool = False
    undo_stack: UndoStack = field(default_factory=UndoStack)
    cached_reads: dict[tuple[object, ...], str] = field(default_factory=dict[tuple[object, ...], str])
    user_components: UserComponents | None = None
    components: list[ComponentType] = field(default_factory=list[ComponentType])
    component_failures: list[str] = field(default_factory=list[str])
    request_text: str = ""
    mandate: Mandate = field(default_factory=Mandate)
    run_asked: bool = False
    tainted: bool = False
    foreign_hosts: frozenset[str] = frozenset()
    allowed_hosts: frozenset[str] = frozenset()
    host_rule: HostRule = "allow"
    refused_bundles: frozenset[str] = frozenset()
    memory: SessionMemory | None = None
    max_attempts: int = MAX_ATTEMPTS
    waits: bool = False
    refused_in: int | None = None
    accepted: bool = False
    wanted: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    rewound: int = 0
    proposed: bool = False
    offers: Mapping[str, Flow] = field(default_factory=dict[str, Flow])
    open_offer: str | None = None
    own_components: tuple[str, ...] = ()
    draft: tuple[Spec, frozenset[int]] | None = None
    names: dict[str, str] = field(default_factory=dict[str, str])
    applied: Flow | None = None
    run_log: list[RunEffect] = field(default_factory=list[RunEffect])
    plans: list[PlanEffect] = field(default_factory=list[PlanEffect])
    installs: list[InstallEffect] = field(default_factory=list[InstallEffect])
    install: Install | None = None
    may_run: bool = True
    index: BundleIndex | None = None
    run_later: Callable[[Flow], None] | None = None
    initial_flow: Flow = field(init=False)
    _ready: bool = field(default=False, init=False)
    _last: tuple[Flow, tuple[int, int], tuple[Fault, ...], bytes | None] | None = field(default=None, init=False)
    """The flow that was checked last, with which component types, its faults, and its digest if it was needed."""
    _checked: dict[tuple[int, int, bytes], tuple[Fault, ...]] = field(
        default_factory=dict["tuple[int, int, bytes]", "tuple[Fault, ...]"], init=False
    )
    """The faults of flows that were checked before it, by their digests."""

    def __post_init__(self) -> None:
        self.initial_flow = self.flow

    @property
    def current(self) -> Flow:
        """The flow that tools read and run: the proposal if there is one, else the canvas."""
        return self.flow if self.proposal is None else self.proposal

    async def with_user_components(self, catalogue: Catalogue) -> Catalogue:
        """A catalogue with the user's own components in it."""
        return catalogue if self.user_components is None else (await self.user_components.catalogue(catalogue))[0]

    @property
    def bundles(self) -> BundleIndex:
        """The bundles that can be installed, with their component types."""
        return bundle_index() if self.index is None else self.index

    @property
    def acted(self) -> bool:
        """Whether anything was changed, proposed, run, written, created or installed this turn."""
        return bool(self.actions or self.runs or self.files or self.components or self.installs) or self.proposed

    def is_requested_text(self, change: Configure) -> bool:
        """Whether a text is what the user asked for in an answer, word for word, so that it needs no approval."""
        words, text = self.wanted.get((change.node, change.field)), change.new
        if words is None or not isinstance(text, str) or not text.strip():
            return False
        return re.search(rf"(?<!\w){re.escape(text.strip())}(?!\w)", words) is not None

    def cached_read(self, key: tuple[str, *tuple[object, ...]], read: Callable[[], str]) -> str:
        """The answer of a catalogue read, computed once a turn; a read that fails is not cached.

        Args:
            key: the tool and its arguments.
            read: computes the answer.
        """
        tool = key[0]
        cached = (id(self.catalogue), len(self.catalogue), *key)
        if cached in self.cached_reads:
            log_event("assistant.tool_cache.hit", tool=tool, key_hash=f"{hash(cached) & 0xFFFFFFFF:08x}")
            return self.cached_reads[cached]
        log_event("assistant.tool_cache.miss", tool=tool)
        answer = read()
        if len(self.cached_reads) >= CACHED_READS:
            log_event("assistant.tool_cache.eviction", tool=tool)
            self.cached_reads.pop(next(iter(self.cached_reads)))
        self.cached_reads[cached] = answer
        return answer

    async def wait_for_runner(self, emit: Emit) -> RunError | None:
        """Wait for the runner, once a turn, with a progress event; returns why flows cannot run, or None."""
        if self._ready:
            return None
        if self.runner.state != "ready":
            message = INSTALLING if self.runner.state == "installing" else "Starting the flow engine..."
            await emit(Progress(step="preparing_runner", message=message))
        unavailable = await wait_for_runner(self.runner, READY_SECONDS)
        self._ready = unavailable is None
        return unavailable

    def check(self, flow: Flow) -> tuple[Fault, ...]:
        """The faults of a flow; a turn checks a flow once, however often it comes back to it."""
        types, digest = (id(self.catalogue), len(self.catalogue)), None
        if self._last is not None:
            before, known, faults, of_before = self._last
            if before is flow and known == types:
                return faults
            self._checked[*known, of_before or _digest(before)] = faults
            digest = _digest(flow)
        found = None if digest is None else self._checked.get((*types, digest))
        faults = tuple(check(flow, self.catalogue, has_model=self.has_model)) if found is None else found
        self._last = flow, types, faults, digest
        return faults

    def count(self, run: RunResult, text: str | None, *, by: Literal["user", "verification"] = "user") -> None:
        """Log a run of this turn, and add what its models used.

        Args:
            run: its result.
            text: its input.
            by: whose run it was.
        """
        self.run_log.append(RunEffect.of(run, by=by, text=text))
        if by == "user":
            self.runs.append(run)
            if run.error is None:
                self.replace_caveat("")  # it runs, whatever its verification lacked
        for usage in run.usage.values():
            self.flow_usage += usage

    def replace_caveat(self, caveat: str) -> None:
        """Set what could not be verified of the proposal, in place of what was said of one before it.

        Args:
            caveat: in words for the user; empty when it was verified.
        """
        if self.proposal_caveat in self.caveats:
            self.caveats.remove(self.proposal_caveat)
        self.proposal_caveat = caveat
        if caveat:
            self.caveats.append(caveat)

    async def commit(self, emit: Emit, edit: Edit) -> None:
        """Apply an edit: to the proposal if there is one, else live to the canvas.

        Nodes that were added this turn go beside what they are joined to; others move only where they must.
        """
        placed = {node.id for node in self.initial_flow.nodes}
        free = {node.id for node in self.current.nodes} - placed
        await self._apply(emit, self._with_models(tidied(self.current, edit, free)))

    async def _apply(self, emit: Emit, edit: Edit) -> None:
        if self.proposal is not None:
            self.draft = None
            await self.propose(emit, edit.flow)
            return
        before, self.flow = self.flow, edit.flow
        self.actions.extend(edit.actions)
        for action, node in _changed_nodes(before, edit):
            await emit(FlowUpdate(action=action, node=node))

    async def rewind(self, emit: Emit, edit: Edit) -> None:
        """Apply an edit that undoes or redoes an earlier turn; it concerns the canvas even beside a proposal."""
        proposal, self.proposal = self.proposal, None
        await self._apply(emit, edit)
        self.proposal = proposal
        self.rewound += len(edit.actions)

    async def propose(self, emit: Emit, flow: Flow) -> None:
        """Propose a whole flow; the canvas stays unchanged until the turn is settled."""
        flow = self._with_models(Edit(flow, ())).flow
        self.proposal, self.proposed = flow, True
        self.proposal_ran = self.accepted = False
        await emit(FlowUpdate(action=SetFlow(old=self.flow.raw, new=flow.raw), applied=False))
        await emit(FlowPreview.of(flow))

    def _with_models(self, edit: Edit) -> Edit:
        """The edit with the assistant's own model named in what it adds, where Langflow knows that model."""
        if self.models is None:
            return edit
        return name_default_models(self.current, edit, self.catalogue, self.models.own, self.models.own_embedding)

    def accept(self, flow: Flow) -> FlowUpdate:
        """Replace the canvas with a settled flow; the returned event carries the old one as restore point."""
        action = SetFlow(old=self.flow.raw, new=flow.raw)
        self.applied = self.proposal or flow
        self.flow, self.proposal, self.proposed = flow, None, False
        self.actions.append(action)
        return FlowUpdate(action=action)

    async def place(self, emit: Emit, *, replaces: bool = False) -> None:
        """Put the proposal on the canvas: as the whole flow when that is empty, else beside what is there.

        Args:
            emit: sends the change.
            replaces: whether it takes the place of what is there instead; the flow keeps its name.
        """
        if self.proposal is None:
            return
        if self.flow.is_empty:
            flow = self.proposal
        elif replaces:
            graph = self.proposal
            flow = self.flow.with_parts(nodes=[one.raw for one in graph.nodes], edges=[one.raw for one in graph.edges])
        else:
            flow = merge(self.flow, self.proposal).flow
        await emit(self.accept(flow))


def _digest(flow: Flow) -> bytes:
    return sha256(json.dumps(flow.raw).encode()).digest()


def _changed_nodes(before: Flow, edit: Edit) -> Iterator["tuple[FlowAction, JsonObject | None]"]:
    """Each action of an edit with the node that it changes, as it is after the action."""
    flow = before
    for number, action in enumerate(edit.actions, 1):
        flow = edit.flow if number == len(edit.actions) else apply(flow, action)
        changes_node = isinstance(action, Configure | SelectOutput | SetConnectionMode | SetToolMode | Amend)
        node = flow.node(action.node) if changes_node else None
        yield action, None if node is None else node.raw
