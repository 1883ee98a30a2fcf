"""Runs one component source in the engine itself, after a node that holds a secret; nothing is in its way.

Forked by `tests/processes/forking.py` in the engine's environment. The engine is imported by name: this file is
read where there is none. Prints what the component gives, and TAMPERED when it changed the engine.
"""

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

SECRET = "canary-7f3a91"


def state() -> "list[object]":
    """What no component may change in the engine."""
    settings = import_module("lfx.services.deps").get_settings_service().settings
    component = import_module("lfx.custom.custom_component.component").Component
    return [str(settings.config_dir), component.get_id, hasattr(component, "owned")]


async def play(source: str) -> None:
    """Run a flow: a text node with the secret, the component, a chat output."""
    nodes = import_module("lfx.components.input_output")
    kind: Any = import_module("lfx.custom.validate").create_class(source, "Sample")
    holder = nodes.TextInputComponent(_id="holder").set(input_value=SECRET)
    sample = kind(_id="sample", _code=source)
    sample.set(after=holder.text_response)
    shown = nodes.ChatOutput(_id="shown").set(input_value=sample.build_result)
    async for step in import_module("lfx.graph").Graph(holder, shown).async_start():
        vertex = getattr(step, "vertex", None)
        if vertex is not None and vertex.id == "sample":
            sys.stdout.write(f"{vertex.results}\n")


def ready() -> None:
    """Import what takes long."""
    for name in ("lfx.components.input_output", "lfx.custom.validate", "lfx.graph", "lfx.services.deps"):
        import_module(name)
    _ = import_module("lfx.components.input_output").ChatOutput  # imported when it is asked for


def main(path: str) -> None:
    """Play a source and say whether it changed the engine."""
    before = state()
    asyncio.run(play(Path(path).read_text(encoding="utf-8")))
    if state() != before:
        sys.stdout.write("TAMPERED\n")
