"""The server of `benchmarks.growth`: scripted turns, no engine, and a route that tells what the process holds."""

import asyncio
import gc
import sys
from pathlib import Path

import uvicorn
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from agent.assistant import Assistant
from agent.models.scripted import call, scripted, tool_returns
from benchmarks.specs import ECHO
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import RunError, RunMetrics, RunResult
from server.app import create_app
from server.settings import ServerSettings


class NoEngine:
    """In place of the engine: every run gives the same at once, because runs are measured elsewhere."""

    state = "ready"
    failure: RunError | None = None

    async def ready(self, timeout: float | None = None) -> bool:  # noqa: ARG002  (the form of a runner)
        """Always."""
        return True

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:  # noqa: ARG002  (likewise)
        """A run that gives a text."""
        return RunResult(run_id="r", output="hello", outputs={"b": "hello"}, metrics=RunMetrics(seconds=0.0))


def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Change a switch of the canvas and answer, build, or answer a question, by what the message says."""
    text = str(messages[0].parts[-1].content) if messages else ""
    asks, builds = "What" in text, "Build" in text
    if not info.function_tools:
        return ModelResponse(parts=[TextPart("question" if asks else "build_flow")])
    if asks:
        return ModelResponse(parts=[TextPart("It takes what is typed and gives it back. " * 20)])
    done = tool_returns(messages)
    if done:
        return ModelResponse(parts=[TextPart("I built it." if builds else "I set it.")])
    if builds:
        return ModelResponse(parts=[call("build_flow", 1, spec=ECHO)])
    node = next(word.rstrip(":") for word in text.split() if word.startswith("ChatOutput-"))
    value = "on" in text.rsplit(maxsplit=1)[-1]
    return ModelResponse(parts=[call("configure_component", 1, component_id=node, values={"clean_data": value})])


async def memory(_: Request) -> JSONResponse:
    """What the process holds now: resident kilobytes, Python's memory blocks, objects and tasks."""
    gc.collect()
    status = await asyncio.to_thread(Path("/proc/self/status").read_text)
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    counts = {"blocks": sys.getallocatedblocks(), "objects": len(gc.get_objects()), "tasks": len(asyncio.all_tasks())}
    return JSONResponse({"resident_kb": resident, **counts})


def main(port: int) -> None:
    """Serve until it is stopped."""
    settings = ServerSettings()
    catalogue = Catalogue.load()
    assistant = Assistant(settings, NoEngine(), catalogue=catalogue, model=scripted(reply, "scripted"))
    app = create_app(settings, assistant=assistant)
    app.router.routes.append(Route("/memory", memory))
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    main(int(sys.argv[1]))
