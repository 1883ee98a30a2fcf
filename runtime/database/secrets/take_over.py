"""Takes over variables and keys of model providers from the encrypted files of earlier versions."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from pathlib import Path
from typing import cast

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from flows.document import JsonObject
from runtime.database.connections import exclusive
from runtime.database.secrets.files import BACKUP, EARLIER_KEYS, SecretFile, earlier_files
from runtime.database.tables import Base, SecretRow
from runtime.files.atomic import read_regular
from runtime.files.folders import LOCAL_USER, folder_name
from runtime.files.private import close_to_others
from runtime.keychain.documents import PREFIX, DocumentSealing
from runtime.keychain.master_key import SecretKeyUnavailable
from runtime.keychain.sealing import Sealing, Unreadable

LIMIT = 8 * 1_024 * 1_024
"""Bytes of the largest file."""

log = logging.getLogger(__name__)


async def take_over_secrets(engine: AsyncEngine, data: Path, documents: DocumentSealing) -> None:
    """Copy what users kept in files into the database, then rename each file to its backup.

    What the database has already is newer, and stays. A process that is killed leaves the file or its backup, and the
    next one goes on. A file whose key is lost is copied as it is, so that restoring the key still opens it.

    Args:
        engine: a database with the current schema.
        data: the folder that may have the files.
        documents: encrypts what is stored.

    Raises:
        SecretKeyUnavailable: nothing can be encrypted; the files stay.
        OSError: a file cannot be read or renamed.
    """
    files = await asyncio.to_thread(lambda: list(earlier_files(data)))
    if not files:
        return
    async with exclusive(engine) as connection:
        owners = await connection.run_sync(_owners)
        named = {await asyncio.to_thread(folder_name, data, owner): owner for owner in owners}
        taken: list[SecretFile] = []
        for file in files:
            owner = LOCAL_USER if file.folder is None else named.get(file.folder)
            if owner is None:
                log.warning("secrets.not_taken_over: nobody is known whose file this is: %s", file.path.name)
                continue
            found = await asyncio.to_thread(_read, file, data)
            if found is None or await connection.run_sync(_merge, owner, file.kind, found, documents):
                taken.append(file)
    for file in taken:
        await asyncio.to_thread(_set_aside, file.path)


def _owners(connection: Connection) -> set[str]:
    """Everybody who has anything, and every user."""
    found = {LOCAL_USER}
    for table in Base.metadata.sorted_tables:
        column = table.columns.get("id" if table.name == "users" else "owner")
        if column is not None:
            found.update(connection.execute(select(column).distinct()).scalars())
    return {owner for owner in found if owner.strip()}


def _read(file: SecretFile, data: Path) -> str | None:
    """What a file holds, as JSON, or still encrypted; None when another process has taken it over meanwhile."""
    try:
        sealed = read_regular(file.path, LIMIT).decode("ascii", "replace")
    except FileNotFoundError:
        return None
    try:
        return Sealing(data, EARLIER_KEYS[file.kind]).unseal(sealed)
    except Unreadable:
        log.warning("secrets.taken_over_unread: the key of this file is missing: %s", file.path.name)
        return f"{PREFIX}{sealed}"


def _merge(connection: Connection, owner: str, kind: str, found: str, documents: DocumentSealing) -> bool:
    """Store what a file held; False when the file is needed, because what is stored beside it cannot be opened."""
    mine = (SecretRow.owner == owner) & (SecretRow.kind == kind)
    stored = connection.execute(select(SecretRow.document).where(mine)).scalar_one_or_none()
    if stored is None:
        document = found if found.startswith(PREFIX) else documents.seal_text(found)
        connection.execute(insert(SecretRow).values(owner=owner, kind=kind, document=document))
        return True
    if found.startswith(PREFIX):
        return found == stored
    try:
        both = {**_object(found), **_object(documents.unseal_text(stored))}
    except SecretKeyUnavailable:
        log.warning("secrets.not_taken_over: what is stored beside them was encrypted with another key")
        return False
    document = documents.seal_text(json.dumps(both, separators=(",", ":")))
    connection.execute(update(SecretRow).where(mine).values(document=document))
    return True


def _object(text: str) -> JsonObject:
    return cast("JsonObject", json.loads(text))


def _set_aside(path: Path) -> None:
    with suppress(FileNotFoundError):  # another process has done it
        close_to_others(path)
        path.rename(path.with_name(path.name + BACKUP))
