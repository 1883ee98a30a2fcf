"""Runs inside the engine's environment and writes, as JSON, what the tests compare with.

See `tests/processes/forking.py`.
"""

import asyncio
import functools
import importlib
import importlib.util
import json
import uuid
from pathlib import Path
from typing import Any

GIVEN = Path("material.json")


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
    """The flows that lfx's own builder makes of the specs in the material."""
    from lfx.graph.flow_builder.builder import build_flow_from_spec

    return [build_flow_from_spec(spec) for spec in material()]


def refreshed() -> list[Any]:
    """What lfx's own refresh makes of components, choice after choice, for the sequences in the material.

    Each is `[type, [[field, value], ...]]`; the answer is the fields and outputs after the last choice, as the canvas
    gets them from Langflow's endpoint, or the error's class name.
    """
    from lfx.custom import utils

    from lfx_runner.introspect.catalogue import registry as types

    utils.eval_custom_component_code = functools.cache(utils.eval_custom_component_code)  # the same class, sooner
    nodes = types()
    answers: list[Any] = []
    for kind, steps in material():
        try:
            answers.append(asyncio.run(_after(nodes[kind], steps)))
        except Exception as error:  # noqa: BLE001 - the components' own
            answers.append(type(error).__name__)
    return answers


async def _after(node: dict[str, Any], steps: list[Any]) -> dict[str, Any]:
    from lfx.custom.custom_component.component import Component
    from lfx.custom.utils import get_component_instance, update_component_build_config
    from lfx.schema.dotdict import dotdict

    new = node  # what lfx makes of the source anew before each refresh
    template = json.loads(json.dumps(node["template"]))
    for field, value in steps:
        template[field]["value"] = value
        if template[field].get("type") == "file":
            template[field]["file_path"] = value
        fresh = json.loads(json.dumps(new))
        component = get_component_instance(Component(_code=new["template"]["code"]["value"]))
        component.set_attributes({name: entry.get("value") for name, entry in template.items() if name != "_type"})
        config = await update_component_build_config(component, dotdict(template), value, field)
        fresh["template"] = config
        node = await component.run_and_validate_update_outputs(fresh, field, value)
        node["template"]["code"] = template["code"]
        template = {name: _plain(entry) for name, entry in node["template"].items()}
    return {
        "fields": {name: entry for name, entry in template.items() if isinstance(entry, dict)},
        "outputs": [_plain(output) for output in node["outputs"]],
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict") and not isinstance(value, dict):
        value = value.to_dict()
    return json.loads(json.dumps(value, default=str))


def ran() -> list[Any]:
    """The results of the runs in the material: each a flow's data and the text that goes in."""
    from lfx_runner.execute import run_flow

    return [run_flow({"flow": flow, "text": text, "want_nodes": True}) for flow, text in material()]


def lacked() -> Any:
    """What components of the sources in the material lack, by name."""
    from lfx_runner.introspect.requirements import missing_packages

    return missing_packages({name: {"template": {"code": {"value": code}}} for name, code in material().items()})


def connected() -> list[list[str]]:
    """Which pairs of ports lfx's own `connect` joins: for each output in the material a text of 0 and 1.

    The file has the types' definitions, the outputs as `[type, name]`, and the inputs in the same form; the texts are
    in the order of the inputs.
    """
    from lfx.graph.flow_builder.connect import add_connection

    asked = material()
    sources = {kind: _node(kind, "source", node) for kind, node in asked["types"].items()}
    targets = {kind: _node(kind, "target", node) for kind, node in asked["types"].items()}
    rows: list[list[str]] = []
    for kind, output in asked["outputs"]:
        source = json.loads(json.dumps(sources[kind])) if output == "component_as_tool" else sources[kind]
        row = "".join("01"[_takes(add_connection, source, output, targets[to], into)] for to, into in asked["inputs"])
        rows.append([kind, output, row])
    return rows


def _node(kind: str, end: str, definition: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"{kind}-{end}", "data": {"id": f"{kind}-{end}", "type": kind, "node": definition}}


def _takes(connect: Any, source: Any, output: str, target: Any, field: str) -> bool:
    flow = {"data": {"nodes": [source, target], "edges": []}}
    try:
        connect(flow, source["id"], output, target["id"], field)
    except (ValueError, TypeError):
        return False
    return True


def tools() -> dict[str, Any]:
    """The names of the tools that lfx itself makes of each type in the material, or the error's class."""
    from lfx.custom.custom_component.component import Component
    from lfx.custom.utils import build_custom_component_template

    names: dict[str, Any] = {}
    for kind, code in material().items():
        try:
            _, component = build_custom_component_template(Component(_code=code))
            names[kind] = [tool.name for tool in asyncio.run(component.to_toolkit())]
        except Exception as error:  # noqa: BLE001 - the components' own
            names[kind] = type(error).__name__
    return names


def converted() -> dict[str, list[str]]:
    """What the converter says of values that have no end, and of some that have: an error's class, or the value."""
    from lfx_runner.results.values import Converter

    class Forever(list[int]):
        def __iter__(self) -> Any:
            while True:
                yield 1

    twice: list[Any] = []
    twice += [twice, twice]
    values = {"forever": Forever(), "twice": twice, "texts": ["x" * 10**6] * 10**5, "plain": [{"a": (1, "b")}, 2.5]}
    return {
        name: [_tried(Converter().plain, value), _tried(Converter().kind_of, value)] for name, value in values.items()
    }


def migrated() -> dict[str, Any]:
    """What lfx makes of nodes of every renamed type, of current and of unknown ones: as it is, and with the index."""
    from lfx.extension.migration import migrate_flow_payload
    from lfx.extension.migration.loader import empty_table, load_migration_table

    from lfx_runner.patches import migrations

    table, _ = load_migration_table()
    assert table is not None
    old = [*table.all_known_legacy_values(), *(each.name for each in table.ambiguous_bare_names)]
    types = [*dict.fromkeys([*old, "ChatInput", "Prompt Template", "NoSuchType", "ext:openai:OpenAIModel@official"])]

    def rewritten() -> list[Any]:
        nodes = [{"id": f"n{number}", "data": {"type": each}} for number, each in enumerate(types)]
        few = [{"id": "f", "data": {"type": each}} for each in ("ChatOutpt", "OpenAIModl")]
        reports = [
            migrate_flow_payload({"nodes": nodes}),
            migrate_flow_payload({"nodes": few}),
            migrate_flow_payload({"nodes": few}, table=empty_table()),
        ]
        return [nodes, few, *(repr(report) for report in reports)]

    before = rewritten()
    migrations.install()
    return {"types": len(types), "before": before, "after": rewritten()}


def _tried(convert: Any, value: Any) -> str:
    try:
        return json.dumps(convert(value))
    except Exception as error:  # noqa: BLE001 - whatever it is, the test names it
        return type(error).__name__


def material() -> Any:
    """What the test wrote for this question."""
    return json.loads(GIVEN.read_text(encoding="utf-8"))


QUESTIONS = {
    question.__name__: question
    for question in (registry, executing, runs, built, refreshed, ran, lacked, connected, tools, converted, migrated)
}


def ready(source: str) -> None:
    """Import what takes long, with the runner's package from its folder."""
    load_runner(source)
    for name in ("lfx.custom.utils", "lfx.graph.flow_builder.builder", "lfx_runner.execute"):
        importlib.import_module(name)


def main(question: str, answer: str, given: str) -> None:
    """Answer a question, with the material of a file, into a file."""
    global GIVEN
    GIVEN = Path(given)
    Path(answer).write_text(json.dumps(QUESTIONS[question]()), encoding="utf-8")
