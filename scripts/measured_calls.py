"""Which system calls the runs of real flows make: `python -m scripts.measured_calls [--only KIND ...]`, with `strace`.

It runs every template, Langflow's own starter projects (from the package `langflow-base`) and every scenario, played by
the oracle, with scripted models and without a network, and follows the processes of runs from the point where they are
confined. It prints the calls, and how they compare with the lists in `lfx_runner/confine/calls.py`.
"""

import argparse
import asyncio
import json
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo
from uv import find_uv_bin

from agent.models.scripted import scripted
from cli.eval.play.environment import play_environment
from evals.play.attempts import play
from evals.play.environment import PATIENCE, PlayEnvironment
from evals.players.oracle.player import OraclePlayer
from evals.scenarios.loader import load_scenarios
from flows.document import Flow
from flows.spec import build
from flows.templates import templates
from lfx_runner.confine.calls import ALLOWED, DENIED, MEASURED
from runtime.gateway.models import Models
from runtime.options import RunOptions
from runtime.runner import Runner
from scripts.checkout import checkout_environment

STARTERS = "langflow-base==1.13.0"
"""The package that has the starter projects, of the engine's version."""
KINDS = ("templates", "starters", "scenarios")
SECONDS = 60.0
CONFINED = "seccomp(SECCOMP_SET_MODE_FILTER"
CALL = re.compile(r"^(?:<\.\.\. )?(?P<name>[a-z]\w*)(?:\(| resumed>)")


def starters(folder: Path) -> Iterator[Flow]:
    """The starter projects, whose package is downloaded into a folder."""
    command = [find_uv_bin(), "pip", "install", "--quiet", "--no-deps", "--target", str(folder), STARTERS]
    subprocess.run(command, check=True, timeout=600)
    for path in sorted(folder.glob("langflow/initial_setup/starter_projects/*.json")):
        yield Flow.from_json(json.loads(path.read_text(encoding="utf-8")))


async def run_all(flows: list[Flow], environment: PlayEnvironment) -> Counter[str]:
    """Run flows one after the other; how they ended."""

    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("A scripted answer.")])

    model = scripted(answer, "scripted")
    options = RunOptions(timeout=SECONDS, network="open", models=Models(resolve=lambda _: model))
    ended = Counter[str]()
    for flow in flows:
        result = await environment.runner.execute(flow, "hello", options)
        ended["ok" if result.error is None else result.error.code] += 1
        if result.refused_calls:
            print(f"{flow.name}: refused {', '.join(result.refused_calls)}", flush=True)
    return ended


async def run_kind(kind: str, environment: PlayEnvironment, folder: Path, every: int) -> Counter[str]:
    """Run all flows of one kind; how they ended."""
    match kind:
        case "templates":
            built = [build(one.spec, environment.catalogue).flow for one in templates()]
            return await run_all([flow for flow in built if flow is not None], environment)
        case "starters":
            return await run_all(list(starters(folder)), environment)
        case _:
            attempts = await play(load_scenarios()[::every], OraclePlayer(), environment, concurrency=2)
            runs = [run for one in attempts for run in (*one.probes, *(run for turn in one.turns for run in turn.runs))]
            for name in {call for run in runs for call in run.refused_calls}:
                print(f"a scenario: refused {name}", flush=True)
            return Counter("ok" if run.error is None else run.error.code for run in runs)


def calls_in(traces: Path, engine: int) -> Counter[str]:
    """The calls that processes of runs made once they were confined, and how often."""
    found = Counter[str]()
    for trace in traces.iterdir():
        if trace.suffix == f".{engine}":
            continue
        text = trace.read_text(encoding="utf-8", errors="replace")
        _, confined, after = text.partition(CONFINED)
        if not confined and re.search(r"^(?:setsid|execve)\(", text, re.MULTILINE):
            continue  # it was ended before, or it is a program that the engine started while it warmed itself up
        for line in (after if confined else text).splitlines()[1 if confined else 0 :]:
            if (call := CALL.match(line)) is not None:
                found[call["name"]] += 1
    return found


async def measure(kinds: list[str], every: int) -> None:
    """Run, trace, print."""
    with tempfile.TemporaryDirectory() as folder:
        traces = Path(folder, "traces")
        await asyncio.to_thread(traces.mkdir)
        async with play_environment(2, patience=PATIENCE) as environment:
            runner = environment.runner
            engine = runner.engine_pid if isinstance(runner, Runner) else None
            if engine is None:
                sys.exit("The engine is not there.")
            command = ["strace", "-f", "-ff", "-qq", "-e", "signal=none", "-o", str(traces / "run"), "-p", str(engine)]
            tracer = await asyncio.create_subprocess_exec(*command)
            await asyncio.sleep(1)
            try:
                for kind in kinds:
                    ended = await run_kind(kind, environment, Path(folder, "starters"), every)
                    print(f"{kind}: {ended.total()} runs: {dict(ended)}", flush=True)
            finally:
                tracer.send_signal(signal.SIGINT)
                await tracer.wait()
        found = await asyncio.to_thread(calls_in, traces, engine)
    print(f"{len(found)} calls: {' '.join(sorted(found))}")
    print(f"not on the measured list: {' '.join(sorted(set(found) - MEASURED)) or '-'}")
    print(f"not allowed: {' '.join(sorted(set(found) - ALLOWED - DENIED)) or '-'}")
    print(f"measured before and not now: {' '.join(sorted(MEASURED - set(found))) or '-'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="play one in N scenarios only")
    chosen = parser.parse_args()
    with checkout_environment():
        asyncio.run(measure(list(chosen.only), chosen.every))
        sys.stdout.flush()
