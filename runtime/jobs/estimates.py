"""What a batch is likely to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import and_, select

from runtime.database.database import Database
from runtime.database.tables import RunRow
from runtime.gateway.prices import Price

_LEARNT: Final = 50
"""How many earlier runs an estimate is made from."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a batch is likely to use, by the flow's earlier runs.

    Attributes:
        inputs: how many inputs there are.
        runs: how many earlier runs this is learnt from; nothing is known without any.
        tokens: how many tokens it is likely to use; null when nothing is known.
        seconds: how long its runs are likely to take, one after the other; null when nothing is known.
        dollars: what its tokens are likely to cost; null when that is not known.
    """

    inputs: int
    runs: int
    tokens: int | None = None
    seconds: float | None = None
    dollars: float | None = None


async def estimate(database: Database, owner: str, flow: str, inputs: int, price: Price) -> Estimate:
    """What so many runs of a flow are likely to use, by the latest that have succeeded.

    Args:
        database: where the runs are stored.
        owner: whose runs they are.
        flow: the flow.
        inputs: how many runs.
        price: what tokens of the flow cost.
    """
    done = and_(RunRow.owner == owner, RunRow.flow == flow, RunRow.state == "succeeded")
    figures = select(RunRow.input_tokens, RunRow.output_tokens, RunRow.milliseconds).where(done)
    async with database.reading() as connection:
        rows = (await connection.execute(figures.order_by(RunRow.number.desc()).limit(_LEARNT))).all()
    if not rows:
        return Estimate(inputs=inputs, runs=0)
    read, written, milliseconds = (sum(row[at] for row in rows) / len(rows) * inputs for at in range(3))
    dollars = price(read, written)
    return Estimate(
        inputs=inputs,
        runs=len(rows),
        tokens=round(read + written),
        seconds=round(milliseconds / 1000, 1),
        dollars=None if dollars is None else round(dollars, 6),
    )
