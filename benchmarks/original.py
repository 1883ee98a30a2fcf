"""`make bench-original`: Langflow's own assistant and ours, both served here and played alternately.

The budgets of time were set by what the original took on another machine; beside the original itself they become
ratios. It plays the turns that its figures are of: builds of six requests to a scripted model without latency, over the
OpenAI Chat wire.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import httpx

from benchmarks import pace
from benchmarks.client import MESSAGE, play
from benchmarks.script import OFF_TOPIC, classified, direct_way, long_way
from benchmarks.serving import free_port, healthy
from benchmarks.specs import ECHO
from benchmarks.turn import built, running, served, verify
from flows.document import Flow
from runtime.runner import Runner
from scripts.checkout import checkout_environment
from scripts.scripted_provider import Reply, Script, ScriptedProvider

ROUNDS = 22
PARALLEL = 32
TOGETHER = 8
"""Turns at once that the original's figure is of; of 32 it finishes none."""

BUILD, REFUSAL, RATE = 465.0, 82.0, 1.5
"""What the original took where the budgets were set: a build and an off-topic turn in ms, and turns a second."""
BEYOND, OURS = 40.0, 15.0
"""The budgets: ms beyond the run, and turns a second."""

REFUSED = {"input_value": OFF_TOPIC}
PROVIDER = {"provider": "OpenAI", "model_name": "gpt-4o"}


def scripted(intent: str) -> Script:
    """The original's model: classify, and where something is to be built search, describe twice, build, answer."""
    sentence = json.dumps({"translation": MESSAGE["input_value"], "intent": intent})
    steps = (
        Reply(calls=(("search_components", {"query": "chat"}),)),
        Reply(calls=(("describe_component", {"component_type": "ChatInput"}),)),
        Reply(calls=(("describe_component", {"component_type": "ChatOutput"}),)),
        Reply(calls=(("build_flow", {"spec": ECHO}),)),
        Reply(text="I built an echo flow."),
    )

    def answer(body: dict[str, Any]) -> Reply:
        if not body.get("tools"):
            return Reply(text=sentence)
        return steps[sum(message["role"] == "tool" for message in body["messages"])]

    return answer


@asynccontextmanager
async def original(executable: Path, base_url: str) -> AsyncGenerator[tuple[httpx.AsyncClient, float]]:
    """Serve the original; yields a client of it and the seconds until it was healthy."""
    port = free_port()
    # It sends what it takes for its own container's loopback elsewhere, hence the other spelling.
    models = base_url.replace("127.0.0.1", "127.1")
    with tempfile.TemporaryDirectory() as home:
        started = perf_counter()
        server = await asyncio.create_subprocess_exec(
            *(str(executable), "run", "--host", "127.0.0.1", "--port", str(port), "--backend-only"),
            "--no-open-browser",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            env={
                "PATH": os.environ["PATH"],
                "HOME": home,
                "DO_NOT_TRACK": "true",
                "LANGFLOW_CONFIG_DIR": home,
                "LANGFLOW_AUTO_LOGIN": "true",
                "LANGFLOW_SKIP_AUTH_AUTO_LOGIN": "true",
                "LANGFLOW_SSRF_ALLOWED_HOSTS": "127.1,127.0.0.1",
                "OPENAI_API_KEY": "sk-scripted",
                "OPENAI_BASE_URL": models,
                "OPENAI_API_BASE": models,
            },
        )
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
                await healthy(client, "/health")
                yield client, perf_counter() - started
        finally:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            await server.wait()


async def canvas(client: httpx.AsyncClient, number: int) -> dict[str, Any]:
    """The message of a build turn of the original, on an empty flow of its own."""
    made = await client.post("/api/v1/flows/", json={"name": f"Canvas {number}", "data": {"nodes": [], "edges": []}})
    made.raise_for_status()
    return {**MESSAGE, **PROVIDER, "flow_id": made.json()["id"], "session_id": f"agentic_{number}"}


async def measure(executable: Path) -> list[str]:
    """Serve both and play them alternately.

    Args:
        executable: the original's command, `langflow`.
    """
    theirs, mine = ScriptedProvider(scripted("build_flow")), ScriptedProvider(direct_way)
    async with (
        theirs.serve() as their_url,
        mine.serve() as my_url,
        running() as runner,  # before the servers: it waits until all processes below this one are at rest
        served(my_url) as us,
        original(executable, their_url) as (them, start),
    ):
        flow = await built(us)
        rounds = [await _round(them, theirs, us, mine, runner, flow, number) for number in range(ROUNDS)]
        taken = {name: median(each[name] for each in rounds[2:]) for name in rounds[0]}
        theirs.script = scripted("build_flow")
        their_rate = await _rate(them, [await canvas(them, ROUNDS + number) for number in range(TOGETHER)])
        our_rate = await _rate(us, [MESSAGE] * PARALLEL)
    build, aside, beyond = taken["their build"], taken["their aside"], taken["beyond"]
    original_line = (
        f"the original: healthy after {start:.0f} s, a build {build:.0f} ms ({BUILD:.0f} where the budgets were set: "
        f"{build / BUILD:.1f} times), {taken['characters']:,.0f} characters; off-topic {aside:.0f} ms "
        f"({REFUSAL:.0f}: {aside / REFUSAL:.1f} times); {TOGETHER} builds at once {their_rate:.2f} a second "
        f"({RATE}: {RATE / their_rate:.1f} times)"
    )
    our_line = (
        f"ours alternately with it: a build with its six requests {taken['long']:.0f} ms (ratio "
        f"{taken['long'] / build:.3f}), with three {taken['direct']:.0f} ms ({taken['direct'] / build:.3f}), off-topic "
        f"{taken['aside']:.0f} ms ({taken['aside'] / aside:.3f})"
    )
    alone = (
        f"beyond the run: {beyond:.0f} ms, {beyond / build:.3f} of the original's build (target: at most {BEYOND:.0f} "
        f"of {BUILD:.0f} ms, {BEYOND / BUILD:.3f})"
    )
    together = (
        f"{PARALLEL} builds at once: {our_rate:.1f} a second, {our_rate / their_rate:.0f} times the original's rate "
        f"(target: {OURS:.0f} to {RATE}, {OURS / RATE:.0f} times)"
    )
    return [original_line, our_line, alone, together]


async def _round(
    them: httpx.AsyncClient,
    theirs: ScriptedProvider,
    us: httpx.AsyncClient,
    mine: ScriptedProvider,
    runner: Runner,
    flow: Flow,
    number: int,
) -> dict[str, float]:
    """One turn of each kind on either side, and the run that verifies ours: milliseconds, and characters sent."""
    message = await canvas(them, number)
    theirs.script, before = scripted("build_flow"), theirs.characters
    their_build, _ = await play(them, message)
    characters = theirs.characters - before
    theirs.script = scripted("off_topic")
    their_aside, _ = await play(them, {**message, **REFUSED})
    mine.script = lambda _: classified("off_topic")
    aside, _ = await play(us, REFUSED)
    mine.script = long_way
    long, _ = await play(us)
    await verify(runner, flow)  # between turns as below, so that what they prepare is ready
    mine.script = direct_way
    direct, _ = await play(us)
    return {
        "their build": their_build,
        "characters": characters,
        "their aside": their_aside,
        "aside": aside,
        "long": long,
        "direct": direct,
        "beyond": direct - await verify(runner, flow),
    }


async def _rate(client: httpx.AsyncClient, messages: Sequence[Mapping[str, Any]]) -> float:
    """Turns a second, of turns side by side that must all complete."""
    started = perf_counter()
    await asyncio.gather(*(play(client, message) for message in messages))
    return len(messages) / (perf_counter() - started)


async def main(executable: Path) -> None:
    """Measure and print."""
    print(pace.measure())
    print(*await measure(executable), sep="\n")
    print(pace.measure())


if __name__ == "__main__":
    with checkout_environment():
        asyncio.run(main(Path(sys.argv[1])))
