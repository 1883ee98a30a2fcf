"""Fills an installation: rows in every table there is, whichever those are, and files in every folder."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    Table,
    create_engine,
    insert,
)
from sqlalchemy.pool import NullPool

from agent.models.keys import ProviderKeys
from runtime.archive.rows import numbered_by, reflected
from runtime.components.store import save
from runtime.database.database import Database
from runtime.files.store import UserFiles
from runtime.keychain.documents import DocumentSealing
from runtime.keychain.user_variables import UserVariables

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
FLOW = {"data": {"nodes": [], "edges": []}, "api_key": KEY}


def rows_of(url: str) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table."""
    engine = create_engine(url.replace("+aiosqlite", ""), poolclass=NullPool)
    with engine.begin() as connection:
        return {
            name: sorted(({**row} for row in connection.execute(table.select()).mappings()), key=repr)
            for name, table in reflected(connection).items()
        }


async def fill(url: str, data: Path, *owners: str) -> None:
    """Store two rows in every table, and files of every kind, for each of these owners."""
    database = Database(url, data)
    await database.open()
    await database.aclose()
    engine = create_engine(url.replace("+aiosqlite", ""), poolclass=NullPool)
    with engine.begin() as connection:
        for table in reflected(connection).values():
            for owner in owners:
                for number in (1, 2):
                    add_row(connection, table, owner, number, DocumentSealing(data))
    for owner in owners:
        UserFiles(data, owner).write("notes/plan.txt", f"of {owner}")
        save(data, owner, "Louder", f"# of {owner}")
        await UserVariables(database, owner).keep({"A_KEY": f"variable of {owner}"})
        await ProviderKeys(database, owner).store("openai", {"OPENAI_API_KEY": f"{KEY}-{owner}"})
    await database.aclose()


def add_row(connection: Connection, table: Table, owner: str, number: int, documents: DocumentSealing) -> None:
    """Store a row in a table, whichever columns it has."""
    values: dict[str, Any] = {}
    for column in table.columns:
        if column.name == numbered_by(table):
            continue
        values[column.name] = _value(column, owner, number)
    if table.name == "secrets":
        return  # there are two kinds, which `fill` stores
    if "owner" in values:
        values["owner"] = owner
    if table.name == "servers":  # nobody's
        values = {
            "id": hashlib.sha256(f"{owner} {number}".encode()).hexdigest(),
            "seen_at": "2026-11-26T00:00:00+00:00",
        }
    if table.name == "users":
        values |= {"id": owner, "scopes": "read,run".replace(",", " "), "expires_at": None, "revoked_at": None}
        values |= {"digest": "00" * 32, "created_at": "2026-11-26T00:00:00+00:00", "name": owner, "folded": owner}
        if number == 2 or owner == "local":
            return
    if "document" in values and table.name == "conversations":
        values |= {"document": documents.seal_text(json.dumps({"turns": [], "canvas": FLOW})), "set_aside": ""}
    elif "document" in values:
        values["document"] = json.dumps(documents.seal_keys(FLOW))
    connection.execute(insert(table).values(values))


def _value(column: Column[Any], owner: str, number: int) -> Any:
    """A value that a column can have."""
    match column.type:
        case Boolean():
            return True
        case Integer() | BigInteger():
            return number
        case Float():
            return number + 0.5
        case DateTime():
            return datetime(2026, 11, number, tzinfo=UTC if column.type.timezone else None)
        case JSON():
            return {"number": number, "of": owner}
        case LargeBinary():
            return b"\xff\x00" + owner.encode()
        case _:
            return f"{column.name} {number} of {owner}: é\u2028"
