"""The record of a turn: what was done, made by code from what the tools did, never from what the answer says."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from flows.actions import AddComponent, Amend, FlowAction, SetDetail
from flows.describe.actions import summarize
from flows.diff import diff
from flows.document import Edge, Flow
from tools.approvals import Approval
from tools.effects import InstallEffect, PlanEffect, RunEffect
from tools.events import FileChange
from tools.workbench import Workbench

Asked: TypeAlias = Literal["build", "edit", "run", "files", "component", "install"]
"""A kind of act that a message may ask for."""

ChangeKind: TypeAlias = Literal[
    "added", "removed", "connected", "disconnected", "changed", "renamed", "replaced", "moved"
]

_FILE_CHANGES: dict[str, Literal["created", "modified", "deleted"]] = {
    "created": "created",
    "replaced": "modified",
    "edited": "modified",
    "deleted": "deleted",
}


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True)


class ProposalEntry(_Entry):
    """A whole flow that was put on the canvas, or offered and waiting for the user."""

    flow: str
    status: Literal["applied", "offered"]


class ChangeEntry(_Entry):
    """A change of the canvas.

    Attributes:
        kind: what happened.
        nodes: the ids of the components; of a connection its source and target; none for the flow itself.
        field: the field or the detail of the flow that was changed.
    """

    kind: ChangeKind
    nodes: list[str] = Field(default_factory=list[str])
    field: str | None = None


class FileEntry(_Entry):
    """A change of one of the user's files."""

    path: str
    change: Literal["created", "modified", "deleted"]


class ComponentEntry(_Entry):
    """A component type that was written."""

    name: str
    change: Literal["created", "updated"]


class TurnRecord(BaseModel):
    """What was done in a turn, and what of the asked was not: facts alone, true whatever the answer says.

    Attributes:
        proposal: a whole flow that was built.
        changes: the changes of the canvas, in order; a flow that was put on it counts as the proposal, and undoing or
            redoing counts by its result.
        components: the component types written.
        files: the changes to the user's files.
        plans: what became of plans.
        installs: what became of installs.
        runs: every run, in order, those of verifications too.
        waiting: whether something waits for the user's decision.
        not_done: the kinds of act that the message asks for and of which nothing was done.
        disagrees: whether the answer, tried once more, still says otherwise; the record then stands at its head.
        text: the record in the user's language, a line a fact; empty when nothing was asked and nothing done. After a
            question it also says what was done before.
    """

    proposal: ProposalEntry | None = None
    changes: list[ChangeEntry] = Field(default_factory=list[ChangeEntry])
    components: list[ComponentEntry] = Field(default_factory=list[ComponentEntry])
    files: list[FileEntry] = Field(default_factory=list[FileEntry])
    plans: list[PlanEffect] = Field(default_factory=list[PlanEffect])
    installs: list[InstallEffect] = Field(default_factory=list[InstallEffect])
    runs: list[RunEffect] = Field(default_factory=list[RunEffect])
    waiting: bool = False
    not_done: list[Asked] = Field(default_factory=list[Asked])
    disagrees: bool = False
    text: str = ""

    @property
    def acted(self) -> bool:
        """Whether anything was done, proposed or tried."""
        done = (self.changes, self.components, self.files, self.plans, self.installs, self.runs)
        return self.proposal is not None or any(done)

    def did(self, asked: Asked) -> bool:
        """Whether anything of a kind was done. A proposal or a plan that waits is not yet a change, but it is work."""
        match asked:
            case "build" | "edit":
                return self.proposal is not None or bool(self.changes)
            case "run":
                return bool(self.runs)
            case "files":
                return bool(self.files)
            case "component":
                return bool(self.components)
            case "install":
                return any(one.status == "installed" for one in self.installs)

    def after(self, earlier: "TurnRecord") -> "TurnRecord":
        """What was done in both parts of a turn that was suspended: this one, and the one before it."""
        return self.model_copy(
            update={
                "proposal": self.proposal or earlier.proposal,
                "changes": [*earlier.changes, *self.changes],
                "components": [*earlier.components, *self.components],
                "files": [*earlier.files, *self.files],
                "plans": [*earlier.plans, *self.plans],
                "installs": [*earlier.installs, *self.installs],
                "runs": [*earlier.runs, *self.runs],
            }
        )

    def undone_acts(self, asked: Iterable[Asked]) -> list[Asked]:
        """The kinds of act of which nothing was done."""
        return [kind for kind in dict.fromkeys(asked) if not self.did(kind)]


def record_of(bench: Workbench, approvals: Collection[Approval] = (), plans: Iterable[PlanEffect] = ()) -> TurnRecord:
    """The record of what a turn did, without its text.

    Args:
        bench: the turn's workbench.
        approvals: what waits for the user's decision.
        plans: plans that were decided before the workbench was opened.
    """
    offered, applied = bench.proposal if bench.proposed else None, bench.applied
    built = offered or applied
    waiting = [PlanEffect.of(one.markdown, "proposed") for one in approvals if one.kind == "plan"]
    wanted = [InstallEffect(bundle=one.bundle, status="proposed") for one in approvals if one.kind == "install"]
    return TurnRecord(
        proposal=built and ProposalEntry(flow=built.name, status="applied" if offered is None else "offered"),
        changes=list(_changes(_results(bench), applied)),
        components=list(
            {one.type: ComponentEntry(name=one.type, change="created") for one in bench.components}.values()
        ),
        files=_files(bench.files),
        plans=[*plans, *bench.plans, *waiting],
        installs=[*bench.installs, *wanted],
        runs=list(bench.run_log),
        waiting=bool(approvals) or offered is not None,
    )


def unsaid(answer: str, record: str) -> str:
    """What a record says beyond the answer, which may be its beginning or hold all or some lines of it."""
    if record in answer:
        return ""
    said = {line.strip() for line in answer.splitlines()}
    left = record.removeprefix(answer.strip()).strip()
    return "\n".join(line for line in left.splitlines() if line.strip() not in said)


def _results(bench: Workbench) -> Sequence[FlowAction]:
    """The changes of a turn; one that went back or forward counts by what it has changed in the end."""
    return diff(bench.initial_flow, bench.flow) if bench.rewound and bench.applied is None else bench.actions


def display_names(*flows: Flow) -> dict[str, str]:
    """What components are called on the canvas, by their ids; those that share a name keep their ids.

    Args:
        flows: the canvas at several times, the latest last.
    """
    names = {node.id: node.display_name for flow in flows for node in flow.nodes if node.display_name}
    counts = Counter(names.values())
    return {node: name for node, name in names.items() if counts[name] == 1}


def _changes(actions: Iterable[FlowAction], applied: Flow | None) -> Iterator[ChangeEntry]:
    for action in actions:
        summary = summarize(action)
        if summary.effect == "replaced" and applied is not None:
            continue  # the proposal says it
        kind, field = summary.effect, ".".join(summary.names) if len(summary.nodes) < 2 else ""
        renamed = isinstance(action, Amend) and all(one.path[-1:] == ("display_name",) for one in action.also)
        if renamed or (isinstance(action, SetDetail) and summary.names == ("name",)):
            kind, field = "renamed", ""
        yield ChangeEntry(kind=kind, nodes=list(summary.nodes), field=field or None)
        if isinstance(action, AddComponent):
            for edge in (Edge(one) for _, one in action.edges):
                yield ChangeEntry(kind="connected", nodes=[edge.source, edge.target])


def _files(changes: Iterable[FileChange]) -> list[FileEntry]:
    """What became of each file; one that was made in this turn and then edited was made."""
    found: dict[str, FileEntry] = {}
    for one in changes:
        change = _FILE_CHANGES[one.change]
        made = one.path in found and found[one.path].change == "created" and change == "modified"
        found[one.path] = FileEntry(path=one.path, change="created" if made else change)
    return list(found.values())
