"""`wirewright users export|import|delete`: what one user has, in a file, from a file, and gone."""

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.database import opened_database, store_errors
from cli.errors import BadUsage, CommandError
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from runtime.accounts.user import User
    from runtime.archive.user_data import ProviderValues
    from runtime.database.database import Database

Whose = Annotated[
    str, typer.Argument(metavar="NAME", help="The user; `local` is the first one, who has no name of another kind.")
]


def export(
    name: Whose,
    out: Annotated[str, typer.Option(metavar="FILE", help="The archive to write.")],
    *,
    secrets: Annotated[
        bool, typer.Option("--secrets", help="With variables, keys of providers and keys in flows, in the clear.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write what a user has into a file: flows, conversations, files, runs; secrets only when asked for."""
    from cli.documents.storage import UserExported
    from cli.output.files import note_replaced, writable, writing

    path = writable(out)
    assert path is not None  # noqa: S101  (narrows the type: a file was named)
    note_replaced(path)
    from agent.models.keys import ProviderKeys
    from runtime.archive.user_data import export_user

    async def exporting() -> "UserExported":
        async with opened_database() as database:
            user = await _user(database, name)
            keys = await ProviderKeys(database, user.id).values()
            done = await export_user(database, _data(), user, path, providers=keys, secrets=secrets)
        return UserExported(path=str(path), user=user.name, rows=done.rows, files=done.files, secrets=secrets)

    with store_errors(), writing(path):
        done = asyncio.run(exporting())
    if as_json:
        print_json(done)
        return
    print_message(f"Wrote {path}: {sum(done['rows'].values())} rows, {done['files']} files of {done['user']}.")
    if secrets:
        print_message("It holds keys in the clear; keep it safe.")


def import_archive(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An archive of `users export`.")],
    as_: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Whose it becomes; without it, the user's of the same name."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Import what a user had elsewhere; a user who is not there is added, and the token printed."""
    from cli.documents.storage import UserImported
    from cli.storage.backup import archive_errors, readable

    path = readable(file)
    from runtime.accounts.scopes import scopes_of
    from runtime.accounts.user import UserError
    from runtime.accounts.users import Users
    from runtime.archive.user_data import delete_user
    from runtime.archive.user_import import import_user, user_in

    async def importing() -> "UserImported":
        name, scopes = user_in(path)
        async with opened_database() as database:
            token = None
            try:
                user = await _user(database, as_ or name)
            except CommandError:
                user, token = await Users(database).add(as_ or name, scopes_of(scopes))
            try:
                done, keys = await import_user(database, _data(), user.id, path)
                await _store_keys(database, user.id, keys)
            except BaseException:
                if token is not None:
                    await delete_user(database, _data(), user.id)
                raise
        return UserImported(user=user.name, rows=done.rows, files=done.files, secrets=done.secrets, token=token)

    try:
        with store_errors(), archive_errors(file):
            done = asyncio.run(importing())
    except UserError as refused:
        raise BadUsage(refused.code, refused.message, fix=refused.fix, where="--as") from None
    if as_json:
        print_json(done)
        return
    if done["token"] is not None:
        print_result(done["token"])
        print_message(f"This is the token of {done['user']}. It is not shown again.")
    print_message(f"Imported {sum(done['rows'].values())} rows and {done['files']} files for {done['user']}.")


def delete(
    name: Whose,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Delete it; it cannot be undone.")] = False,
    as_json: Json = False,
) -> None:
    """Delete a user and everything that the user has, without a trace; the first user stays, with nothing."""
    from cli.documents.storage import UserDeleted

    if not yes:
        message = f"This deletes everything of {name[:80]} and cannot be undone."
        raise BadUsage("usage", message, fix="Write --yes as well; `users export` keeps a copy.", where="--yes")
    from runtime.archive.user_data import delete_user

    async def deleting() -> "UserDeleted":
        async with opened_database() as database:
            user = await _user(database, name, by_id=True)
            done = await delete_user(database, _data(), user.id)
        return UserDeleted(id=user.id, user=user.name, rows=done.rows, files=done.files)

    try:
        with store_errors():
            done = asyncio.run(deleting())
    except OSError:
        fix = "Check the permissions in the data folder, then delete the user again."
        raise CommandError("not_deleted", "Not every file of the user could be deleted.", fix=fix) from None
    if as_json:
        print_json(done)
        return
    print_message(f"Deleted {done['user']} ({done['id']}): {sum(done['rows'].values())} rows, {done['files']} files.")


def _data() -> Path:
    from agent.settings import AssistantSettings
    from cli.settings import settings_of

    return settings_of(AssistantSettings).data


async def _store_keys(database: "Database", user: str, keys: "ProviderValues") -> None:
    from agent.models.keys import ProviderKeys

    stored = ProviderKeys(database, user)
    for provider, values in keys.items():
        await stored.store(provider, values)


async def _user(database: "Database", name: str, *, by_id: bool = False) -> "User":
    """The user with a name, or the first one.

    Args:
        database: where the users are stored.
        name: the name.
        by_id: whether an id is taken, too, also of a user who was deleted.

    Raises:
        CommandError: there is none.
    """
    from runtime.accounts.scopes import EVERY_SCOPE
    from runtime.accounts.user import User
    from runtime.accounts.users import Users
    from runtime.files.folders import LOCAL_USER

    folded = name.lower()
    found = next((user for user in await Users(database).entries() if user.name.lower() == folded), None)
    if found is not None:
        return found
    if folded == LOCAL_USER:
        return User(id=LOCAL_USER, name=LOCAL_USER, scopes=frozenset(EVERY_SCOPE), created_at="")
    if by_id and re.fullmatch(r"[0-9a-f]{32}", name):
        return User(id=name, name=name, scopes=frozenset(), created_at="")
    fix = "`wirewright users list` names them; `local` is the first user."
    raise CommandError("user_not_found", f"There is no user {name[:80]!r}.", fix=fix, where="NAME")
