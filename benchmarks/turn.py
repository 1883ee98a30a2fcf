"""One build turn over HTTP with a scripted model of no latency, over the OpenAI Chat wire: time and characters."""

import asyncio
import json
import os
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import httpx

from benchmarks.serving import free_port
from scripts.scripted_provider import Reply, ScriptedProvider

SPEC = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"
TRAJECTORY = (
    Reply(text="action"),
    Reply(calls=(("search_components", {"query": "chat"}),)),
    Reply(calls=(("describe_component", {"type": "ChatInput"}),)),
    Reply(calls=(("describe_component", {"type": "ChatOutput"}),)),
    Reply(calls=(("build_flow", {"spec": SPEC}),)),
    Reply(text="I built an echo flow."),
)
ROUNDS = 12


async def measure() -> list[str]:
    """Play the turn against a served assistant and count what it sent to its model."""
    at = 0

    def script(_: dict[str, object]) -> Reply:
        nonlocal at
        at += 1
        return TRAJECTORY[(at - 1) % len(TRAJECTORY)]

    provider = ScriptedProvider(script)
    async with provider.serve() as base_url:
        port = free_port()
        server = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("wirewright")),
            "serve",
            "--port",
            str(port),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={
                **os.environ,
                "WIREWRIGHT_MODEL": "openai-chat:gpt-6-luna",
                "OPENAI_API_KEY": "sk-scripted",
                "OPENAI_BASE_URL": base_url,
            },
        )
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
                await _ready(client)
                times, firsts = [], []
                for _ in range(ROUNDS):
                    total, first = await _turn(client)
                    times.append(total)
                    firsts.append(first)
        finally:
            server.terminate()
            await server.wait()
    characters = provider.characters // ROUNDS
    summary = (
        f"one build turn over HTTP (6 requests, verified by a run): {median(times[2:]):.0f} ms, first event after "
        f"{median(firsts[2:]):.1f} ms, {characters:,} characters of request bodies; the original, unverified: 465 ms, "
        f"250,085 characters (ratios {median(times[2:]) / 465:.2f} and {characters / 250_085:.2f})"
    )
    return [summary]


async def _turn(client: httpx.AsyncClient) -> tuple[float, float]:
    started = perf_counter()
    first = 0.0
    last: dict[str, object] = {}
    async with client.stream(
        "POST", "/api/v1/agentic/assist/stream", json={"input_value": "Build an echo flow"}
    ) as response:
        async for frame in response.aiter_lines():
            if frame.startswith("data: "):
                first = first or (perf_counter() - started) * 1000
                last = json.loads(frame[6:])
    assert last["event"] == "complete", last
    return (perf_counter() - started) * 1000, first


async def _ready(client: httpx.AsyncClient) -> None:
    for _ in range(6_000):
        try:
            if (await client.get("/readyz")).status_code == 200:
                return
        except httpx.TransportError:
            pass  # not listening yet
        await asyncio.sleep(0.05)
    raise TimeoutError("the server was never ready")
