"""What a durable turn takes beyond a plain one: two servers play the same turn alternately."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import quantiles
from typing import Final

from benchmarks.client import play
from benchmarks.durable.places import WIREWRIGHT, environment
from benchmarks.script import direct_way
from benchmarks.serving import serve
from scripts.scripted_provider import ScriptedProvider
from tests.databases.postgres import Cluster

PAIRS: Final = 40
WARM: Final = 3
"""Pairs at the start that do not count."""


async def measure(cluster: Cluster | None) -> list[str]:
    """Play build turns on SQLite and, if there is one, on Postgres."""
    lines = [await compared("SQLite", None, 15)]
    return lines if cluster is None else [*lines, await compared("Postgres", cluster, 30)]


async def compared(name: str, cluster: Cluster | None, target: int) -> str:
    """How many milliseconds durable turns take beyond plain ones.

    Args:
        name: the database, as it is printed.
        cluster: the Postgres; None for SQLite.
        target: how many milliseconds it may be.
    """
    with tempfile.TemporaryDirectory() as folder:
        async with ScriptedProvider(direct_way).serve() as base:
            plain, durable = (
                environment(
                    base,
                    Path(folder) / kind,
                    WIREWRIGHT_MEMORY="file",
                    WIREWRIGHT_DURABLE=flag,
                    **({} if cluster is None else {"WIREWRIGHT_DATABASE": cluster.schema()}),
                )
                for kind, flag in (("plain", "0"), ("durable", "1"))
            )
            async with serve(WIREWRIGHT, plain) as one, serve(WIREWRIGHT, durable) as two:
                await one.at_rest()
                await two.at_rest()
                taken = [((await play(one.client))[0], (await play(two.client))[0]) for _ in range(WARM + PAIRS)]
    plain_ms, durable_ms = (quantiles([pair[at] for pair in taken[WARM:]], n=4) for at in (0, 1))
    more = quantiles([after - before for before, after in taken[WARM:]], n=4)
    return (
        f"a durable build turn on {name}: {durable_ms[1]:.0f} ms, a plain one: {plain_ms[1]:.0f} ms; {more[1]:.0f} ms "
        f"more (quartiles {more[0]:.0f} and {more[2]:.0f}; target: at most {target})"
    )
