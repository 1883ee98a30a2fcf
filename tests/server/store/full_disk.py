"""A server whose data folder is on a small disk, which is filled and freed, as a program: prints what clients see.

It runs in a mount namespace of its own, so that the disk is nobody else's.
"""

import asyncio
import errno
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from flows.catalogue import Catalogue
from server.settings import ServerSettings
from tests.server.live import ASSIST, FLOWS, serving
from tests.server.streams.following import followed, started
from tests.shared.scripted_assistant import ScriptedModel, assistant

BLOCK = 4_096
PAUSE = 0.05
PATIENCE = 300.0
"""Seconds that a request may take where many tests share a processor."""
MORE = 2_000
"""How many requests fill what is left of the disk at most."""


def flow(name: str, size: int = 20_000) -> dict[str, Any]:
    return {"name": name, "description": "x" * size, "data": {"nodes": [], "edges": []}}


def fill(ballast: Path, left: int) -> None:
    """Leave hardly anything of the disk."""
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        while True:
            file.write(b"\0" * BLOCK)
    with ballast.open("r+b") as file:
        file.truncate(max(0, ballast.stat().st_size - left))


def said(reply: httpx.Response) -> tuple[int, str]:
    """The status and the code of a reply; a refusal says what to do, and nothing of this machine."""
    if reply.is_success:
        return reply.status_code, ""
    error = reply.json()["error"]
    assert error["fix"]
    assert not any(word in reply.text for word in ("Traceback", "sqlite", "SELECT", "INSERT", "/data/"))
    return reply.status_code, error["code"]


async def writes(client: httpx.AsyncClient, name: str, size: int = 50_000) -> dict[str, tuple[int, str]]:
    """One write of each kind."""
    upload = {"file": (f"{name}.txt", b"y" * size)}
    return {
        "flow": said(await client.post(FLOWS, json=flow(name, size))),
        "file": said(await client.post("/api/v1/files", files=upload)),
        "variable": said(await client.put(f"/api/v1/variables/{name.upper()}", json={"value": "v" * 8_000})),
        "conversation": said(await client.post(ASSIST, json={"input_value": f"Say {name}", "session_id": name})),
    }


async def there(client: httpx.AsyncClient, name: str) -> dict[str, bool]:
    """What of these writes is stored."""
    flows = (await client.get(FLOWS, params={"q": name})).json()["flows"]
    files = (await client.get("/api/v1/files")).json()["files"]
    variables = (await client.get("/api/v1/variables")).json()["variables"]
    return {
        "flow": [one["name"] for one in flows] == [name],
        "file": f"{name}.txt" in [one["path"] for one in files],
        "variable": name.upper() in [one["name"] for one in variables],
        "conversation": (await client.get(f"/api/v1/conversations/{name}")).status_code == 200,
    }


async def until_full(client: httpx.AsyncClient) -> tuple[list[str], tuple[int, str]]:
    """Store flows until one is refused: the acknowledged ones, and how it was refused."""
    kept: list[str] = []
    for number in range(MORE):
        reply = await client.post(FLOWS, json=flow(f"flow {number}"))
        if not reply.is_success:
            return kept, said(reply)
        kept.append(reply.json()["id"])
    raise OSError(errno.EFBIG, "the disk is not full")


async def main(data: Path) -> dict[str, Any]:
    """Fill the disk, try everything, free it, and try again."""
    settings, ballast = ServerSettings(data=data), data / "ballast"
    replies = ["question", "An answer. " * 200] * 20

    def server() -> Any:
        return serving(assistant(Catalogue({}), ScriptedModel(*replies), data=data), settings)

    async with server() as live:
        live.client.timeout = httpx.Timeout(PATIENCE)
        report: dict[str, Any] = {"before": await writes(live.client, "before")}
        fill(ballast, 64 * BLOCK)
        kept, report["refused"] = await until_full(live.client)
        fill(ballast, 0)
        report["full"] = await writes(live.client, "full", 900_000)
        events = await started(live.client, input_value="What?", session_id="s")
        turn = events[0]["turn_id"]
        report["streamed"] = [event["event"] for event in events if event["event"] != "token"][-1:]
        report["ready"] = (await live.client.get("/readyz")).status_code
        report["alive"] = (await live.client.get("/healthz")).status_code
        report["read"] = [(await live.client.get(f"{FLOWS}/{each}")).status_code for each in kept]
        ballast.unlink()
        report["after"] = await writes(live.client, "after")
        for _ in range(200):
            if await followed(live.client, turn) == events:
                break
            await asyncio.sleep(PAUSE)
        report["events"] = await followed(live.client, turn) == events
    async with server() as live:
        live.client.timeout = httpx.Timeout(PATIENCE)
        report["again"] = [(await live.client.get(f"{FLOWS}/{each}")).status_code for each in kept]
        report["events_again"] = await followed(live.client, turn) == events
        report["there"] = {name: await there(live.client, name) for name in ("before", "full", "after")}
        report["total"] = (await live.client.get(FLOWS)).json()["total"] - len(kept)
    return report


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
