"""Runs inside the runner's environment: does with `lfx` itself what is compared, one command a line.

Reads `{"do": "run", "flow": …, "text": …}`, with the `url` where models are asked if they are, or
`{"do": "build", "spec": …}`, and answers `{"ms": …}`.
"""

import asyncio
import json
import os
import sys
from time import perf_counter
from typing import Any
from uuid import uuid4


async def run(flow: dict[str, Any], text: str) -> None:
    """One run in this process, as the engine's own callers do it."""
    from lfx.graph import Graph

    graph = Graph.from_payload(flow["data"], flow_id=str(uuid4()))
    results = await graph.arun(
        inputs=[{"input_value": text}], inputs_components=[[]], types=["chat"], outputs=[], session_id=str(uuid4())
    )
    assert results[0].outputs[0].results["message"].text == text


def ask_at(url: str) -> None:
    """Let model nodes ask at a loopback address, also in a container."""
    from lfx.base.models import model_utils
    from lfx.utils import util

    os.environ |= {"OPENAI_BASE_URL": url, "LANGFLOW_SSRF_ALLOWED_HOSTS": "127.0.0.1"}
    util.transform_localhost_url = model_utils.transform_localhost_url = str


def build(spec: str) -> None:
    """One build by the engine's own builder."""
    from lfx.graph.flow_builder.builder import build_flow_from_spec

    assert "flow" in build_flow_from_spec(spec)


def main() -> None:
    """Answer commands until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        command = json.loads(line)
        if "url" in command:
            ask_at(command["url"])
        started = perf_counter()
        if command["do"] == "run":
            asyncio.run(run(command["flow"], command["text"]))
        else:
            build(command["spec"])
        answers.write(json.dumps({"ms": (perf_counter() - started) * 1000}) + "\n")


if __name__ == "__main__":
    main()
