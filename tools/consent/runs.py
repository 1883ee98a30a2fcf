"""What a run asks before it starts: files of the user's that it would write over, and hosts that they did not name."""

import asyncio
from collections.abc import Collection, Iterable

from pydantic_ai import RunContext

from flows.document import Flow, Node
from flows.json_values import as_list, as_object
from runtime.egress.account import OTHERS
from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from runtime.results import RunResult
from runtime.telemetry import log_event
from tools.approvals import NOT_ASKED, RAN_WITHOUT, UNNAMED_HOST, OutboundApproval, RemovalApproval
from tools.consent.ask import ask, consents
from tools.consent.gate import ask_before_sending, suspended
from tools.consent.hosts import run_hosts
from tools.consent.rules import Act, uncovered
from tools.workbench import Workbench

_WRITER = "SaveToFile"
_NAME = "file_name"


async def ask_before_run(ctx: RunContext[Workbench], text: str | None) -> None:
    """Return when a run does only what the user's words, or an approval, cover; suspend the call otherwise.

    Args:
        ctx: the tool call.
        text: the run's input.

    Raises:
        ApprovalRequired: it has not been approved yet.
    """
    bench = ctx.deps
    listed = await listed_files(bench.user_files)
    ask_before_overwriting(ctx, written_over(bench, listed), listed, "Run it and overwrite")
    bench.allowed_hosts |= _approved(ctx)
    hosts = run_hosts(bench, text)
    ask_before_sending(ctx, hosts, "Run it and send data to", "run")
    bench.allowed_hosts |= set(hosts)


def ask_after_run(ctx: RunContext[Workbench], result: RunResult) -> None:
    """Return when a run was refused no host that an approval would have let it reach; suspend the call otherwise.

    What a run reaches shows only when it runs. The call is made anew when the user agrees, and runs again.

    Args:
        ctx: the tool call.
        result: what the run gave.

    Raises:
        ApprovalRequired: the run wanted to reach a host that nobody has named or approved.
    """
    wanted = dict.fromkeys(one.host for one in result.hosts if one.unapproved and one.host != OTHERS)
    asked = [host for host in wanted if host not in ctx.deps.allowed_hosts]
    if asked:
        title = f"The run wanted to reach {', '.join(asked)}: run it again and let it"
        log_event("assistant.outbound.asked", hosts=len(asked))
        raise suspended(ctx, OutboundApproval(title=title, detail=RAN_WITHOUT, hosts=asked, why=UNNAMED_HOST))


def _approved(ctx: RunContext[Workbench]) -> set[str]:
    """The hosts that the user has approved for a call."""
    approvals = consents(ctx).approvals
    return {host for one in approvals if one.kind == "outbound" for host in one.hosts}


def ask_before_overwriting(
    ctx: RunContext[Workbench], paths: Iterable[str], listed: Collection[str], title: str, detail: str = ""
) -> None:
    """Return when the user's words, or an approval, cover files being overwritten; suspend the call otherwise.

    Args:
        ctx: the tool call.
        paths: the files.
        listed: all files of the user's.
        title: the question, without the files.
        detail: what would be written, as far as that is known.

    Raises:
        ApprovalRequired: it has not been approved yet.
    """
    acts = [Act("overwrite", path, among=tuple(listed)) for path in paths]
    asked = [act.target for act in uncovered(ctx.deps, acts)]
    if asked:
        ask(ctx, RemovalApproval(title=f"{title} {', '.join(asked)}", detail=detail, targets=asked, why=NOT_ASKED))


def written_over(bench: Workbench, listed: list[str]) -> list[str]:
    """The user's files that a run of the current flow would write over.

    A writer that named the file when the turn began is the user's own: a run that they ask for may write it again.

    Args:
        bench: the workbench.
        listed: the user's files.
    """
    found = dict[str, None]()
    for node in bench.current.components:
        stem = _written(node)
        if stem is None or (bench.mandate.asks("run") and _written_before(bench.initial_flow, node) == stem):
            continue
        found |= dict.fromkeys(path for path in listed if stem in (path, path.rpartition(".")[0]))
    return list(found)


async def listed_files(files: UserFiles | None) -> list[str]:
    """The paths of a user's files; none when they cannot be listed."""
    if files is None:
        return []
    try:
        return [path for path, _ in await asyncio.to_thread(files.listing)]
    except FileRefused:
        return []


def _written(node: Node) -> str | None:
    """The file that a node writes anew; None for any other node, and for one that adds to its file."""
    name = node.value(_NAME)
    storage = [as_object(one).get("name") for one in as_list(node.value("storage_location"))]
    writes = node.type == _WRITER and node.value("append_mode") is not True and set(storage) <= {"Local", None}
    return name.strip().removeprefix("./") or None if writes and isinstance(name, str) else None


def _written_before(flow: Flow, node: Node) -> str | None:
    before = flow.node(node.id)
    return None if before is None else _written(before)
