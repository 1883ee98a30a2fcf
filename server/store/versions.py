"""The versions of stored flows, read together."""

from collections.abc import Collection

from sqlalchemy import select

from runtime.database.database import Database
from runtime.database.tables import FlowRow


async def flow_versions(database: Database, owners: Collection[str]) -> dict[str, dict[str, int]]:
    """The versions of the stored flows of some owners, by owner and id; owners without flows are there, too.

    Args:
        database: where they are stored.
        owners: their ids.
    """
    found: dict[str, dict[str, int]] = {owner: {} for owner in owners}
    wanted = select(FlowRow.owner, FlowRow.id, FlowRow.version).where(FlowRow.owner.in_(owners))
    async with database.reading() as connection:
        for owner, flow_id, version in await connection.execute(wanted):
            found[owner][flow_id] = version
    return found
