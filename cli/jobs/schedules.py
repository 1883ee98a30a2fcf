"""`wirewright flow schedule`: what runs a stored flow at a server by itself, at times or when a webhook is called."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import typer

from cli.errors import BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, needed_server

if TYPE_CHECKING:
    from cli.remote.connection import Server
    from server.routes.jobs.schedules import ScheduleEntry

commands = CommandGroup("Run stored flows at times, or when a webhook is called.")

ScheduleId = Annotated[str, typer.Argument(metavar="ID", help="The schedule, as `flow schedule list` names it.")]


@commands.add(
    "add",
    'wirewright flow schedule add Echo --cron "0 7 * * 1-5" --input hi',
    "wirewright flow schedule add Echo --webhook",
)
def add(
    flow: Annotated[str, typer.Argument(metavar="FLOW", help="A flow at the server, by id or name.")],
    cron: Annotated[
        str | None, typer.Option(metavar="TIMES", help="Minute, hour, day, month, day of the week: '0 7 * * 1-5'.")
    ] = None,
    zone: Annotated[str, typer.Option(metavar="ZONE", help="The time zone of --cron.")] = "UTC",
    text: Annotated[str | None, typer.Option("--input", metavar="T", help="The text to type into the chat.")] = None,
    notify: Annotated[str, typer.Option(metavar="URL", help="An address that gets a POST when a run has failed.")] = "",
    server: ServerAddress = None,
    *,
    webhook: Annotated[bool, typer.Option("--webhook", help="Run it whenever its webhook is called.")] = False,
    as_json: Json = False,
) -> None:
    """Run a stored flow by itself. The token of a webhook is printed once."""
    from cli.remote.connection import segment
    from cli.remote.stores.flows import FLOWS, RemoteFlows
    from server.routes.jobs.schedules import NewSchedule

    if (cron is None) is not webhook:
        raise BadUsage("usage", "Write either --cron or --webhook.", fix='--cron "0 7 * * 1-5"', where="--cron")
    there = _needed(server)
    place = f"{FLOWS}/{segment(RemoteFlows(there).find(flow).id)}/schedules"
    body = {"kind": "webhook" if webhook else "cron", "cron": cron or "", "zone": zone, "notify": notify}
    more = {} if text is None else {"input_value": text}
    with _naming_options():
        made = there.change(NewSchedule, "POST", place, {**body, **more})
    if as_json:
        print_json(made)
    elif made.token is None:
        print_message(f"Due next at {made.next_at}. Its id: {made.id}")
    else:
        print_message("The token is shown only now. Call it with `Authorization: Bearer TOKEN`:")
        print_result(f"POST {_address(there, made)}\n{made.token}")


@commands.add("list", "wirewright flow schedule list --server https://flows.example.org")
def list_schedules(server: ServerAddress = None, *, as_json: Json = False) -> None:
    """List the schedules and webhooks of your flows."""
    from server.routes.jobs.schedules import SCHEDULES, ScheduleList

    there = _needed(server)
    found = there.read(ScheduleList, SCHEDULES)
    if as_json:
        print_json(found)
        return
    rows = [_row(there, one) for one in found.schedules]
    if rows:
        print_rows([*([HEADER] if sys.stdout.isatty() else []), *rows])
    else:
        print_message("Nothing runs by itself.")


@commands.add("switch", "wirewright flow schedule switch 3f2a off")
def switch(
    schedule: ScheduleId,
    state: Annotated[Literal["on", "off"], typer.Argument(metavar="on|off", help="Whether it is used.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Let a schedule or webhook rest, or use it again."""
    from cli.remote.connection import segment
    from server.routes.jobs.schedules import SCHEDULES, ScheduleEntry

    place = f"{SCHEDULES}/{segment(schedule)}"
    changed = _needed(server).change(ScheduleEntry, "PATCH", place, {"is_on": state == "on"})
    if as_json:
        print_json(changed)
        return
    print_message(
        f"It is {state}." if changed.next_at is None else f"It is {state}, and due next at {changed.next_at}."
    )


@commands.add(
    "edit",
    'wirewright flow schedule edit 3f2a --cron "30 6 * * 1-5" --zone Europe/Berlin',
    "wirewright flow schedule edit 3f2a --notify ''",
)
def edit(
    schedule: ScheduleId,
    cron: Annotated[
        str | None, typer.Option(metavar="TIMES", help="Minute, hour, day, month, day of the week: '0 7 * * 1-5'.")
    ] = None,
    zone: Annotated[str | None, typer.Option(metavar="ZONE", help="The time zone of --cron.")] = None,
    text: Annotated[str | None, typer.Option("--input", metavar="T", help="The text to type into the chat.")] = None,
    notify: Annotated[
        str | None, typer.Option(metavar="URL", help="An address that gets a POST when a run has failed.")
    ] = None,
    server: ServerAddress = None,
    *,
    no_input: Annotated[
        bool, typer.Option("--no-input", help="Type nothing: run the flow with the values that it has.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Change the times, the input or the notices of a schedule or webhook, which keeps its id and its token.

    An empty `--notify` ends the notices.
    """
    from cli.remote.connection import segment
    from server.routes.jobs.schedules import SCHEDULES, ScheduleEntry

    if text is not None and no_input:
        raise BadUsage("usage", "Write either --input or --no-input.", fix="--input 'hi'", where="--input")
    asked = {"cron": cron, "zone": zone, "input_value": text, "notify": notify}
    change: dict[str, str | None] = {name: value for name, value in asked.items() if value is not None}
    if no_input:
        change["input_value"] = None
    if not change:
        fix = "Name at least one of: --cron, --zone, --input, --no-input, --notify."
        raise BadUsage("usage", "Nothing is to be changed.", fix=fix, where="--cron")
    with _naming_options():
        changed = _needed(server).change(ScheduleEntry, "PATCH", f"{SCHEDULES}/{segment(schedule)}", change)
    if as_json:
        print_json(changed)
    else:
        due = "" if changed.next_at is None else f" Due next at {changed.next_at}."
        print_message(f"Changed: {changed.id}.{due}")


@commands.add("remove", "wirewright flow schedule remove 3f2a")
def remove(schedule: ScheduleId, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Delete a schedule or webhook; what it has queued goes on."""
    from cli.documents.flows import Removed
    from cli.remote.connection import segment
    from server.routes.jobs.schedules import SCHEDULES

    _needed(server).send("DELETE", f"{SCHEDULES}/{segment(schedule)}")
    if as_json:
        print_json(Removed(removed=1))
        return
    print_message("Deleted: 1 schedule.")


HEADER = ("ID", "KIND", "STATE", "FLOW", "DUE NEXT", "TIMES OR ADDRESS")
"""What the columns of the list are, for people."""

_OPTIONS = {"$.cron": "--cron", "$.zone": "--zone", "$.notify": "--notify"}
"""The options of what a server refuses of a schedule."""


@contextmanager
def _naming_options() -> Generator[None]:
    """Turn what a server refuses of an option's value into an error about that option.

    Raises:
        BadUsage: the value of an option is wrong.
    """
    try:
        yield
    except CommandError as error:
        option = _OPTIONS.get(error.where or "")
        if option is None:
            raise
        message = error.message.removeprefix(f"{option.removeprefix('--')}: ")
        raise BadUsage(error.code, message, fix=error.fix, where=option) from None


def _row(server: "Server", one: "ScheduleEntry") -> tuple[str, ...]:
    what = f"{one.cron} ({one.zone})" if one.kind == "cron" else _address(server, one)
    text = "" if one.input_value is None else f", types {one.input_value[:60]!r}"
    notify = f", reports failures to {one.notify}" if one.notify else ""
    state = "on" if one.is_on else "off"
    return (one.id, one.kind, state, one.name or one.flow, one.next_at or "", f"{what}{text}{notify}")


def _address(server: "Server", one: "ScheduleEntry") -> str:
    """Where a webhook is called, at the address by which this command knows the server."""
    return f"{server.origin}{urlsplit(one.url).path}"


def _needed(server: str | None) -> "Server":
    return needed_server(server, "Flows run by themselves at a server")
