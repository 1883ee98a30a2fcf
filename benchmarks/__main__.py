"""`python -m benchmarks`: every comparison, side by side in one run; `--against COMMIT`: beside another commit."""

import asyncio
import os
import sys

from benchmarks import budgets, building, growth, models, pace, runs, searching, serving, turn
from benchmarks.against import command
from benchmarks.checkout import settings
from benchmarks.engine import engine
from flows.catalogue import Catalogue
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner


async def main() -> None:
    """Install what is missing, measure, print."""
    environment = RunnerEnvironment.locate()
    await environment.install(print)
    print(pace.measure())
    catalogue = Catalogue.load()
    with engine(environment) as lfx:
        print(*building.measure(catalogue, lfx), sep="\n")
        print(searching.measure(catalogue))  # after building: it fills the memory with 10,000 components
        async with Runner(environment, catalogue=catalogue) as runner:
            assert await runner.ready()
            await asyncio.to_thread(serving.settle, os.getpid())
            print(*await runs.measure(runner, catalogue, lfx), sep="\n")
            print(await models.measure(runner, catalogue, lfx))
            print(*await budgets.measure(runner), sep="\n")
    print(*await asyncio.to_thread(serving.measure), sep="\n")
    print(pace.measure(), *await turn.measure(), pace.measure(), sep="\n")
    print(*await growth.measure(), sep="\n")


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(command.main(sys.argv[1:]))
    with settings():
        asyncio.run(main())
