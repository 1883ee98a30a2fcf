"""`wirewright flow pull`: a flow of a Langflow server, as a file."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.langflow.servers import ConnectionName, OnLangflow, asked, connection_named, langflow_errors
from cli.options import Json
from cli.output.streams import print_json, print_message

if TYPE_CHECKING:
    from flows.document import Flow

FlowThere = Annotated[str, typer.Argument(metavar="FLOW", help="The flow there: its id or name.")]
WithSecrets = Annotated[bool, typer.Option("--with-secrets", help="Keep the secrets that were typed into its fields.")]


def pull(
    f: FlowThere,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write it there; without it, standard output gets the flow.")
    ] = None,
    connection: ConnectionName = None,
    *,
    langflow: OnLangflow = True,  # noqa: ARG001 - it says where, and nowhere else is possible yet
    with_secrets: WithSecrets = False,
    as_json: Json = False,
) -> None:
    """Read a flow from a running Langflow, as Langflow JSON that `flow push` sends back.

    Secrets that were typed into its fields stay there. What it needs and is
    not here, such as variables, is listed.
    """
    from cli.documents.langflow import Pulled
    from cli.engine import ready_catalogue
    from cli.files.local import LocalVariables
    from cli.langflow.sending import remember
    from cli.output.faults import note_faults
    from cli.output.files import note_replaced, writable, write_flow
    from runtime.langflow.client import LangflowServer
    from runtime.langflow.documents import RemoteFlow
    from runtime.langflow.exchange import missing_here, pulled

    target = writable(out)
    there = connection_named(connection)

    async def read(server: LangflowServer) -> RemoteFlow:
        return await server.flow((await server.find(f)).id)

    remote = asked(there, read)
    with langflow_errors():
        flow: Flow = pulled(there, remote, with_secrets=with_secrets)
        asyncio.run(remember(remote))
        kept = LocalVariables().names()
    missing = missing_here(flow, ready_catalogue(), kept)
    if target is not None:
        if not as_json:
            note_replaced(target)
        write_flow(target, flow)
    if as_json:
        whole = None if target is not None else flow.to_json()
        out_name = None if target is None else str(target)
        print_json(
            Pulled(
                id=remote.id,
                name=remote.name,
                updated_at=remote.updated_at,
                out=out_name,
                flow=whole,
                missing=missing,
            )
        )
        return
    if target is None:
        import json

        from cli.output.streams import print_result

        print_result(json.dumps(flow.to_json(), ensure_ascii=False, indent=2))
    else:
        print_message(f"{remote.name} is in {target}.")
    note_faults(missing)
