"""Runs inside the engine's environment and prints, as JSON, what the tests compare with."""

import asyncio
import importlib.util
import json
import sys
import uuid
from pathlib import Path
from typing import Any


def load_runner(source: str) -> None:
    """Make the runner's package importable, as its own entry does."""
    spec = importlib.util.spec_from_file_location("runner_entry", Path(source) / "main.py")
    assert spec is not None
    assert spec.loader is not None
    entry = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(entry)
    entry.become_package()


def registry() -> dict[str, Any]:
    """What lfx itself knows: its own index, and the bundles that are installed."""
    from importlib.metadata import entry_points

    import lfx
    from lfx.extension import load_installed_extensions

    index = json.loads((Path(lfx.__file__).parent / "_assets" / "component_index.json").read_text(encoding="utf-8"))
    own = {kind: node for _, components in index["entries"] for kind, node in components.items()}
    bundled = [each for result in load_installed_extensions() for each in result.components]
    return {
        "code": {kind: node["template"]["code"]["value"] for kind, node in own.items()},
        "outputs": {kind: [output["name"] for output in node["outputs"]] for kind, node in own.items()},
        "bundled": sorted(each.namespaced_id for each in bundled),
        "bundles": sorted(point.name for point in entry_points(group="langflow.extensions")),
    }


def executing() -> list[str]:
    """The types that lfx itself says execute code."""
    from lfx.utils.flow_validation import CODE_EXECUTION_COMPONENT_TYPES

    return sorted(CODE_EXECUTION_COMPONENT_TYPES)


def runs() -> dict[str, Any]:
    """One flow through lfx's own way and through the runner's, in this process."""
    from lfx.graph import Graph
    from lfx.graph.flow_builder.builder import build_flow_from_spec

    from lfx_runner.execute import run_flow

    spec = "name: X\nnodes:\n  A: ChatInput\n  B: ChatOutput\nedges:\n  A.message -> B.input_value\n"
    data = build_flow_from_spec(spec)["flow"]["data"]

    async def own() -> str:
        graph = Graph.from_payload(json.loads(json.dumps(data)), flow_id=str(uuid.uuid4()))
        inputs = [{"input_value": "a\n\nb"}]
        [outputs] = await graph.arun(
            inputs=inputs, inputs_components=[[]], types=["chat"], outputs=[], session_id="s"
        )  # fmt: skip
        return outputs.outputs[0].results["message"].text

    return {"lfx": asyncio.run(own()), "runner": run_flow({"flow": data, "text": "a\n\nb"})}


def built() -> list[dict[str, Any]]:
    """The flows that lfx's own builder makes of the specs in the file that the last argument names."""
    from lfx.graph.flow_builder.builder import build_flow_from_spec

    specs = json.loads(Path(sys.argv[4]).read_text(encoding="utf-8"))
    return [build_flow_from_spec(spec) for spec in specs]


if __name__ == "__main__":
    load_runner(sys.argv[1])
    answer = {"registry": registry, "executing": executing, "runs": runs, "built": built}[sys.argv[2]]()
    Path(sys.argv[3]).write_text(json.dumps(answer), encoding="utf-8")
