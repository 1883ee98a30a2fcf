"""`python -m benchmarks.durable`: durable turns alone."""

import asyncio

from benchmarks.durable.run import measure
from scripts.checkout import checkout_environment


async def _main() -> None:
    async for line in measure():
        print(line, flush=True)


if __name__ == "__main__":
    with checkout_environment():
        asyncio.run(_main())
