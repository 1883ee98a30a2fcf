"""Imports lfx once and runs a small flow, so that every forked run starts with a warm engine.

`warm_up` does what every run needs. `warm_up_models`, which takes about as long again, does what runs that call models
need, while the runner is idle.
"""

import gc
import sys
import threading
from importlib.metadata import version
from typing import Any

from lfx.graph.flow_builder import builder

from lfx_runner.component_classes import precompile, precompiled_unused
from lfx_runner.execute import run_flow
from lfx_runner.patches import migrations

WARM_UP = """name: Warm up
nodes:
  I: ChatInput
  P: Prompt Template
  O: ChatOutput
edges:
  I.message -> O.input_value
config:
  I.should_store_message: false
  O.should_store_message: false
  P.template: warm
"""
COMMON = """name: Common components
nodes:
  I: ChatInput
  O: ChatOutput
  P: Prompt Template
  T: TextInput
  U: TextOutput
edges:
  I.message -> O.input_value
  T.text -> U.input_value
"""
"""The component types of most flows: their classes are compiled before any run."""
_request: dict[str, Any] = {}


def warm_up() -> str:
    """Warm up what a run of plain components uses, freeze the heap for forking, and return lfx's version.

    A process that was forked from one that has done so is warm already.

    Raises:
        RuntimeError: the warm-up flow does not return its input or leaves a thread behind; runs would be unreliable.
    """
    if _request:
        return version("lfx")
    gc.freeze()  # what the imports created is never garbage; collecting takes half a second
    migrations.install()
    built: dict[str, Any] = builder.build_flow_from_spec(WARM_UP)
    _request.update(flow=built["flow"]["data"], text="warm")
    for _ in range(2):  # the second pass fills caches that the first only created
        if not rehearse():
            raise RuntimeError("the warm-up flow did not return its input")
    precompile(builder.build_flow_from_spec(COMMON)["flow"]["data"]["nodes"])
    _freeze()
    return version("lfx")


def warm_up_models() -> None:
    """Import and warm up what runs that call models need, and what describing a component needs.

    Raises:
        RuntimeError: as `warm_up` does.
    """
    gc.disable()
    from lfx_runner import models  # imports the model clients, which takes half a second
    from lfx_runner.introspect import component

    gc.freeze()
    gc.enable()
    models.prepare()
    component.warm_up()
    rehearse()  # most runs call no model: what Python remembers of attributes and code is theirs again
    _freeze()


def models_are_warm() -> bool:
    """Whether this process, or the one that it was forked from, has run `warm_up_models`."""
    return "lfx_runner.models" in sys.modules


def _freeze() -> None:
    """Freeze the heap, which forks share."""
    builder._registry_cache = None  # 15 MB that no run needs
    if threading.active_count() != 1:
        raise RuntimeError("the warm-up left threads behind, so forking is unsafe")
    gc.collect()
    gc.freeze()


def rehearse() -> bool:
    """Run the warm-up flow once; returns whether it gave its input back.

    After a fork this copies the memory pages that every run writes to, so that the run does not wait for that.
    """
    with precompiled_unused():
        return run_flow(_request).get("output") == _request["text"]
