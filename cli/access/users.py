"""`wirewright users`: who may use the server beside the first user, who has the token of the installation."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cli.access import user_data
from cli.database import opened_database
from cli.errors import BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from cli.documents.users import UserObject
    from runtime.accounts.user import User
    from runtime.accounts.users import Users
    from server.routes.installation.users import UserEntry

T = TypeVar("T")

commands = CommandGroup("Add, list and revoke the users of the server.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user, such as ada@example.org.")]
Days = Annotated[
    int | None, typer.Option("--days", metavar="N", help="For how many days the token is valid; without it, for ever.")
]


@commands.add("add", "wirewright users add ada@example.org", "wirewright users add ci --scopes read,run --days 90")
def add(
    name: Name,
    *,
    scopes: Annotated[
        str, typer.Option(metavar="SCOPES", help="What the token allows: some of read, build, run and admin.")
    ] = "read,build,run",
    days: Days = None,
    server: ServerAddress = None,
    as_json: Json = False,
) -> None:
    """Add a user and print the token, which cannot be shown again."""
    from runtime.accounts.scopes import SCOPES, UnknownScope, scopes_of

    try:
        allowed = scopes_of(scopes.split(","))
    except UnknownScope as unknown:
        raise BadUsage("unknown_scope", unknown.message, fix=unknown.fix, where="--scopes") from None
    if (remote := server_at(server)) is not None:
        from cli.remote.stores.users import RemoteUsers

        made = RemoteUsers(remote).add(name, [one for one in SCOPES if one in allowed], days)
        _print_token(_received(made.user), made.token, as_json=as_json)
        return
    user, token = _with_users(lambda users: users.add(name, allowed, days))
    _print_token(_object(user), token, as_json=as_json)


@commands.add("list", "wirewright users list")
def list_users(server: ServerAddress = None, *, as_json: Json = False) -> None:
    """List the users and what each may do; the first user, who has the installation's token, is not among them."""
    from cli.documents.users import UserList

    if (remote := server_at(server)) is not None:
        from cli.remote.stores.users import RemoteUsers

        found = [_received(user) for user in RemoteUsers(remote).entries()]
    else:
        found = [_object(user) for user in _with_users(lambda users: users.entries())]
    if as_json:
        print_json(UserList(users=found))
        return
    print_rows((each["name"], ",".join(each["scopes"]), each["state"], each["expires_at"] or "") for each in found)
    if not found:
        print_message("There are no users beside the first one. Add one: wirewright users add NAME")


@commands.add("revoke", "wirewright users revoke grace@example.org")
def revoke(name: Name, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """End a user's token and sign the user's browsers out; what the user has is kept."""
    if (remote := server_at(server)) is not None:
        from cli.remote.stores.users import RemoteUsers

        user = _received(RemoteUsers(remote).revoke(name))
    else:
        user = _object(_with_users(lambda users: users.revoke(name)))
    if as_json:
        print_json(user)
        return
    print_message(f"The token of {user['name']} is not valid any more.")


@commands.add("rotate", "wirewright users rotate grace@example.org --days 90")
def rotate(name: Name, server: ServerAddress = None, *, days: Days = None, as_json: Json = False) -> None:
    """Replace a user's token and print the new one; the earlier one ends. A revoked user is admitted again."""
    if (remote := server_at(server)) is not None:
        from cli.remote.stores.users import RemoteUsers

        made = RemoteUsers(remote).rotate(name, days)
        _print_token(_received(made.user), made.token, as_json=as_json)
        return
    user, token = _with_users(lambda users: users.rotate(name, days))
    _print_token(_object(user), token, as_json=as_json)


commands.add("export", "wirewright users export grace@example.org --out grace.zip")(user_data.export)
commands.add("import", "wirewright users import grace.zip", "wirewright users import grace.zip --as ada@example.org")(
    user_data.import_archive
)
commands.add("delete", "wirewright users delete grace@example.org --yes")(user_data.delete)


def _print_token(user: "UserObject", token: str, *, as_json: bool) -> None:
    from cli.documents.users import UserToken

    if as_json:
        print_json(UserToken(user=user, token=token))
        return
    print_result(token)
    print_message(f"This is the token of {user['name']}. It is not shown again.")


def _object(user: "User") -> "UserObject":
    from datetime import UTC, datetime

    from cli.documents.users import UserObject

    active = user.is_active(datetime.now(UTC))
    return UserObject(
        id=user.id,
        name=user.name,
        scopes=user.scope_names,
        created_at=user.created_at,
        expires_at=user.expires_at,
        revoked_at=user.revoked_at,
        state="active" if active else "expired" if user.revoked_at is None else "revoked",
    )


def _received(user: "UserEntry") -> "UserObject":
    """A user as a server tells."""
    from cli.documents.users import UserObject

    return UserObject(
        id=user.id,
        name=user.name,
        scopes=user.scopes,
        created_at=user.created_at,
        expires_at=user.expires_at,
        revoked_at=user.revoked_at,
        state=user.state,
    )


def _with_users(use: "Callable[[Users], Awaitable[T]]") -> T:
    """What something gives that uses the stored users.

    Raises:
        CommandError: the database cannot be used, or there is no such user.
        BadUsage: a name or a number of days cannot be taken.
    """
    from runtime.accounts.user import UserError
    from runtime.accounts.users import Users

    async def used() -> T:
        async with opened_database() as database:
            return await use(Users(database))

    try:
        return asyncio.run(used())
    except UserError as refused:
        if refused.code == "user_not_found":
            raise CommandError(refused.code, refused.message, fix=refused.fix, where="NAME") from None
        where = "--days" if refused.code == "invalid_days" else "NAME"
        raise BadUsage(refused.code, refused.message, fix=refused.fix, where=where) from None
