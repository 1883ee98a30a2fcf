"""A server, or a worker, whose run of a flow never ends where it is told so: a program that is killed in the middle."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic_ai import ModelResponse, TextPart, ToolCallPart

from agent.assistant import Assistant
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import RunResult
from server.jobs.process import work
from server.serve import serve
from server.settings import ServerSettings
from tests.server.durable.playing import MESSAGE, model_of
from tests.shared.stand_ins import StandInRunner

SCRIPT: Sequence[list[ToolCallPart | TextPart]] = (
    [call("add_component", 1, type="ChatInput")],
    [call("run_flow", 2, input="hello")],
    [call("write_todos", 3, todos=[{"content": "Rest"}])],
    [TextPart("I added a chat input and ran the flow.")],
)
"""An edit, a run, a note, and the end."""


class Runner(StandInRunner):
    """A stand-in engine that notes its runs, once they may end.

    `HANGS` says what becomes of them in this process: `1`, they never end; `until`, they wait for a file `go`; `dies`,
    the process is killed by them.
    """

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """A run."""
        data = ServerSettings().data
        hangs = os.environ.get("HANGS")
        if hangs == "dies":
            with (data / "died").open("a") as file:
                file.write("died\n")
            os.kill(os.getpid(), signal.SIGKILL)
        (data / "hung").write_text(str(os.getpid()))
        while hangs == "until" and not (data / "go").exists():  # noqa: ASYNC110  (another process makes it)
            await asyncio.sleep(0.02)
        if hangs == "1":
            await asyncio.Event().wait()
        with (data / "ran").open("a") as file:
            file.write("ran\n")
        return await super().execute(flow, text, options)


EXCERPT = Path(__file__).parents[2] / "flows" / "data" / "catalogue.json"
"""Component types that need no engine to be installed."""


def main() -> None:
    """Serve on a free port, or work for a queue that is named."""
    settings = ServerSettings()
    model = model_of(
        lambda messages: SCRIPT[sum(isinstance(one, ModelResponse) for one in messages)],
        MESSAGE,
        settings.data / "requests",
    )
    assistant = Assistant(settings, Runner(), catalogue=Catalogue.load(EXCERPT), model=model)
    if sys.argv[1:]:

        def ready(name: str) -> None:
            sys.stdout.write(f"{name}\n")
            sys.stdout.flush()

        asyncio.run(work(settings, ["turns"], ready, assistant=assistant))
    else:
        serve(settings, assistant=assistant)


if __name__ == "__main__":
    main()
