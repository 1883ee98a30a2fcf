"""`python -m benchmarks`: every benchmark in one run; `--against COMMIT` compares with another commit."""

import asyncio
import os
import sys

from benchmarks import budgets, building, growth, pace, runs, searching, serving, start, turn
from benchmarks.against import command
from benchmarks.direct_lfx import engine
from benchmarks.durable import run
from benchmarks.load import protocols, streams, turns
from flows.catalogue import Catalogue
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from scripts.checkout import checkout_environment


async def main() -> None:
    """Install what is missing, measure, print."""
    environment = RunnerEnvironment.locate()
    await environment.install(print)
    print(pace.measure())
    catalogue = Catalogue.load()
    async with engine(environment) as lfx:
        print(*await building.measure(catalogue, lfx), sep="\n")
        print(searching.measure(catalogue))  # after building: it fills the memory with 10,000 components
        async with Runner(environment, catalogue=catalogue) as runner:
            assert await runner.ready()
            await asyncio.to_thread(serving.settle, os.getpid())
            print(*await runs.measure(runner, catalogue, lfx), sep="\n")
            print(*await budgets.measure(runner), sep="\n")
            print(*await turns.measure(command.checkout(), runner), sep="\n")
    print(await streams.measure(command.checkout()))
    print(protocols.measure())
    print(*await command.measure_checkout(), sep="\n")
    print(pace.measure(), await turn.measure(), pace.measure(), sep="\n")
    async for line in run.measure():
        print(line, flush=True)
    await start.main()
    print(*await growth.measure(), sep="\n")


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(command.main(sys.argv[1:]))
    with checkout_environment():
        asyncio.run(main())
