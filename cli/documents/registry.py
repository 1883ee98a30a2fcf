"""Which documents each command prints with `--json`."""

from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from agent.contract.events import CancelledEvent, CompleteEvent, ErrorEvent
from agent.contract.runs import KeptRun
from agent.conversation.transcript.parts import TranscriptEntry
from agent.models.overview import Overview
from cli.doctor.report import Report
from cli.documents import (
    components,
    evals,
    flows,
    installation,
    langflow,
    models,
    running,
    servers,
    storage,
    stored,
    users,
)
from cli.documents.errors import Failed
from runtime.jobs.job import Job
from runtime.sessions.run_entry import RunEntry
from server.routes.flows.models import UpdatedFlow, WholeFlow
from server.routes.installation.bundles import BundleEntry
from server.routes.installation.evaluations import LinePage
from server.routes.jobs.batches import BatchEntry, BatchEstimate
from server.routes.jobs.schedules import NewSchedule, ScheduleEntry, ScheduleList
from server.routes.providers import ProviderEntry
from server.store.flows import FlowEntry


class Canvas(TypedDict):
    """What `/show` answers in a conversation: the flow on the canvas, or null."""

    event: Literal["canvas"]
    flow: flows.FlowObject | None


@dataclass(frozen=True)
class Printed:
    """What a command prints with `--json`; instead of the document it may print `Failed`.

    Attributes:
        document: the type of its one document, or of each line when it answers lines; more than one are alternatives.
        lines: what is printed before it, or all that is printed by a command that has no document: names of types of
            lines.
        about: when which of them is printed.
    """

    document: tuple[Any, ...] = ()
    lines: tuple[Any, ...] = ()
    about: str = ""


EVENT = "Event"
RUN_EVENT = "RunStreamEvent"
"""Names of the unions of events in the contract of the HTTP API."""

PRINTED: dict[str, Printed] = {
    "token": Printed((installation.Token, installation.SignInLink)),
    "login": Printed((servers.SignedIn, servers.ServerList), about="With --list, the second."),
    "logout": Printed((servers.SignedOut,)),
    "serve": Printed(lines=(installation.Serving,), about="The log's lines of JSON follow on standard error."),
    "ask": Printed(
        (CompleteEvent, ErrorEvent, CancelledEvent),
        (EVENT,),
        "A line for each event, as the event stream has it.",
    ),
    "chat": Printed(lines=(EVENT, Canvas), about="A line for each event; `/show` answers with the canvas."),
    "completion": Printed((installation.CompletionScript,)),
    "doctor": Printed((Report, servers.ServerReport), about="The second with --server."),
    "migrate": Printed((storage.Migrated,), about="With --check, `steps` are pending, and `ok` says whether none is."),
    "backup": Printed((storage.Archived,)),
    "restore": Printed((storage.Archived,)),
    "flow build": Printed((flows.Built,)),
    "flow check": Printed((flows.Checked,)),
    "flow run": Printed(
        (running.Ran, running.Batched, BatchEstimate),
        (RUN_EVENT,),
        "Events are lines before the document, with --events. With --batch, the second, and with --estimate the third.",
    ),
    "flow test": Printed(
        (running.Tested, running.Ran), about="The second with --save, and when the flow was not run because of faults."
    ),
    "flow spec": Printed((flows.Printed,)),
    "flow diff": Printed((flows.Differing,)),
    "flow merge": Printed((flows.Merged,)),
    "flow templates": Printed((flows.TemplateList, flows.TemplateText), about="With a name, the second."),
    "flow pull": Printed((langflow.Pulled,)),
    "flow push": Printed((langflow.Pushed,)),
    "langflow connect": Printed((langflow.Connected,)),
    "langflow list": Printed((langflow.ConnectionList,), about="It exits with 1 when --check finds one unusable."),
    "langflow disconnect": Printed((langflow.Disconnected,)),
    "langflow flows": Printed((langflow.FlowList,)),
    "langflow folders": Printed((langflow.FolderList,)),
    "flow list": Printed((servers.StoredFlows, servers.StaleFlows)),
    "flow show": Printed((WholeFlow,)),
    "flow export": Printed((flows.FlowObject, servers.FlowWritten), about="The second with --out."),
    "flow import": Printed((servers.ImportedFlows,)),
    "flow remove": Printed((flows.Removed,)),
    "flow revisions": Printed((servers.Revisions,)),
    "flow restore": Printed((FlowEntry,)),
    "flow start": Printed((FlowEntry,)),
    "flow duplicate": Printed((FlowEntry,)),
    "flow update-components": Printed((UpdatedFlow,)),
    "flow sessions list": Printed((running.SessionList,)),
    "flow sessions show": Printed((running.SessionMessages,)),
    "flow sessions remove": Printed((flows.Removed,)),
    "components search": Printed((components.SearchRow,), about="One for each query; with `-`, a line for each line."),
    "components describe": Printed((components.Described, components.Unknown)),
    "components trust": Printed((components.Trusted, components.Untrusted)),
    "components scan": Printed(
        (components.Scanned, components.ScannedLine), about="With `-`, the second, a line for each line."
    ),
    "files add": Printed((stored.FilesAdded,)),
    "files list": Printed((stored.FileList,)),
    "files get": Printed((stored.FileWritten,), about="It needs --out."),
    "files remove": Printed((stored.FilesRemoved,)),
    "models list": Printed((Overview,)),
    "models test": Printed((models.ModelsTested,)),
    "models set-key": Printed((ProviderEntry,)),
    "models remove-key": Printed((models.KeyRemoved,)),
    "bundles list": Printed((servers.BundleList,)),
    "bundles install": Printed((BundleEntry,)),
    "approvals list": Printed((stored.ApprovalList,)),
    "approvals withdraw": Printed((stored.ApprovalsWithdrawn,)),
    "conversations list": Printed((stored.ConversationList,)),
    "conversations show": Printed((stored.ConversationShown,)),
    "conversations rename": Printed((TranscriptEntry,)),
    "conversations remove": Printed((flows.Removed,)),
    "conversations rewind": Printed((stored.ConversationRewound,)),
    "runner install": Printed((installation.Installed,)),
    "runner status": Printed((installation.StatusDocument,)),
    "flow schedule add": Printed((NewSchedule,)),
    "flow schedule list": Printed((ScheduleList,)),
    "flow schedule switch": Printed((ScheduleEntry,)),
    "flow schedule edit": Printed((ScheduleEntry,)),
    "flow schedule remove": Printed((flows.Removed,)),
    "worker": Printed(lines=(running.Working,), about="The log's lines of JSON follow on standard error."),
    "jobs list": Printed((servers.JobList,)),
    "jobs show": Printed((Job, BatchEntry)),
    "jobs cancel": Printed((Job, BatchEntry)),
    "jobs retry": Printed((Job, BatchEntry)),
    "runs list": Printed((stored.RunList,)),
    "runs show": Printed((RunEntry,)),
    "runs cancel": Printed((KeptRun,)),
    "runs remove": Printed((flows.Removed,)),
    "usage": Printed((users.UsageShown,)),
    "users add": Printed((users.UserToken,)),
    "users list": Printed((users.UserList,)),
    "users revoke": Printed((users.UserObject,)),
    "users rotate": Printed((users.UserToken,)),
    "users export": Printed((storage.UserExported,)),
    "users import": Printed((storage.UserImported,)),
    "users delete": Printed((storage.UserDeleted,)),
    "variables list": Printed((stored.VariableList,)),
    "variables set": Printed((stored.VariableObject,)),
    "variables remove": Printed((stored.VariableRemoved,)),
    "eval run": Printed((evals.Summed,)),
    "eval score": Printed((evals.Summed,)),
    "eval check": Printed((evals.FlowScored,)),
    "eval compare": Printed((evals.PlaysCompared,)),
    "eval list": Printed((evals.ScenarioList,)),
    "eval show": Printed((evals.ScenarioShown,)),
    "eval report": Printed((evals.Reported,)),
    "eval mutate": Printed((evals.Mutated,)),
    "eval judge": Printed((evals.Judged,)),
    "eval calibrate": Printed((evals.Calibrated,)),
    "eval pack create": Printed((evals.PackShown,)),
    "eval pack check": Printed((evals.PackShown,)),
    "eval results list": Printed((servers.EvaluationList,)),
    "eval results show": Printed((LinePage,)),
    "eval results get": Printed((stored.FileWritten,)),
    "eval export": Printed((evals.Exported, evals.Written), about="The second with --to, unless it is experiments."),
    "eval import chat2workflow": Printed((evals.ScenariosImported,)),
    "eval fix": Printed((evals.Fixed,)),
    "eval conversations": Printed((evals.ConversationsPlayed,)),
}
"""By command. A command that fails prints `Failed`, whatever else it prints."""

FAILED = Failed
