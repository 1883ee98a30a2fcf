"""`wirewright usage`: what was used, by day, model and user."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.database import opened_database
from cli.errors import BadUsage, CommandError
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message
from cli.remote.option import ServerAddress, here_alone, server_at

if TYPE_CHECKING:
    from flows.document import JsonObject
    from runtime.usage.report import UsageReport


def usage(
    *,
    first: Annotated[
        str, typer.Option("--from", metavar="DAY", help="The first day in UTC; 29 days before the last if left out.")
    ] = "",
    last: Annotated[str, typer.Option("--until", metavar="DAY", help="The last day; today if left out.")] = "",
    by: Annotated[
        str, typer.Option("--by", metavar="GROUPS", help="What it is grouped by: some of day, model and user.")
    ] = "day",
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="Whose usage; without it, the first user's.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="The usage of all users.")] = False,
    server: ServerAddress = None,
    as_json: Json = False,
) -> None:
    """Show tokens, requests, turns, runs and what they cost in US dollars, as far as prices are known."""
    from datetime import UTC, datetime

    from flows.json_values import as_list, as_object
    from runtime.usage.report import UnreadableReport, UsageReport, figures

    if all_ and user is not None:
        raise BadUsage("usage", "Name one user, or write --all.", fix="Leave one of them out.", where="--user")
    try:
        report = UsageReport.read(first, last, by, datetime.now(UTC).date())
    except UnreadableReport as wrong:
        raise BadUsage("bad_value", wrong.message, fix=wrong.fix, where=f"--{wrong.parameter}") from None
    here_alone(server, user=user)
    remote = server_at(server)
    if remote is None:
        made = asyncio.run(_made(report, user, everyone=all_))
    else:
        asked = {"from": first, "to": last, "by": by, "users": "all" if all_ else "own"}
        made = as_object(remote.read(dict[str, Any], "/api/v1/usage", asked))
    if as_json:
        print_json(made)
        return
    rows = [as_object(row) for row in as_list(made["usage"])]
    if rows:
        total = {**dict.fromkeys(report.by, ""), report.by[0]: "total", **as_object(made["total"])}
        print_rows(figures([*rows, total], report.by))
    else:
        print_message("Nothing was used in these days.")


async def _made(report: "UsageReport", name: str | None, *, everyone: bool) -> "JsonObject":
    """The report about one user, or all.

    Raises:
        CommandError: there is no such user, or the database cannot be used.
    """
    from runtime.accounts.user import LOCAL
    from runtime.accounts.users import Users
    from runtime.usage.log import UsageLog

    async with opened_database() as database:
        names = {LOCAL.id: LOCAL.name, **{each.id: each.name for each in await Users(database).entries()}}
        wanted = (name or LOCAL.name).lower()
        user = next((key for key, known in names.items() if known.lower() == wanted), None)
        if user is None:
            fix = "`wirewright users list` names them."
            raise CommandError("user_not_found", f"There is no user {wanted[:80]!r}.", fix=fix, where="--user")
        return await report.made(UsageLog(database), None if everyone else user, names)
