"""What a run asks before it starts: files of the user's that it would write over, and hosts that they did not name."""

import asyncio

from pydantic_ai import RunContext

from flows.document import Flow, Node
from flows.json_values import as_list, as_object
from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from tools.approvals import OutboundApproval, RemovalApproval
from tools.consent.ask import ask
from tools.consent.hosts import unasked_hosts
from tools.consent.rules import may_overwrite
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
    paths = [path for path in written_over(bench, listed) if not may_overwrite(bench, path, listed)]
    if paths:
        ask(ctx, RemovalApproval(title=f"Run it and overwrite {', '.join(paths)}", targets=paths))
    hosts = unasked_hosts(bench, text)
    if hosts:
        ask(ctx, OutboundApproval(title=f"Run it and send data to {', '.join(hosts)}", hosts=hosts))
        bench.allowed_hosts |= set(hosts)


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
        if stem is None or (bench.run_asked and _written_before(bench.initial_flow, node) == stem):
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
