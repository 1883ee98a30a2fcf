"""Imports lfx once and runs one small flow, so that every forked run starts with a warm engine.

`warm_up` is what every run needs; `warm_more`, which takes about as long again, what runs that call models need, and is
done while nobody waits.
"""

import gc
import sys
import threading
from importlib.metadata import version
from typing import Any

from lfx.graph.flow_builder import builder

from lfx_runner.component_classes import kept, make_ahead
from lfx_runner.execute import run_flow

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
AHEAD = """name: Made ahead
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
"""The component types that most flows have: their classes are made before any run."""
_request: dict[str, Any] = {}


def warm_up() -> str:
    """Warm everything a run of plain components touches and freeze the heap for forking; returns lfx's version.

    Raises RuntimeError when the warm-up flow does not give back its input, or leaves a thread behind: both would
    make every run unreliable.
    """
    gc.freeze()  # what the imports made stays: looking for garbage in it takes half a second
    built: dict[str, Any] = builder.build_flow_from_spec(WARM_UP)
    _request.update(flow=built["flow"]["data"], text="warm")
    for _ in range(2):  # the second pass fills what the first only created
        if not touch():
            raise RuntimeError("the warm-up flow did not give back its input")
    make_ahead(builder.build_flow_from_spec(AHEAD)["flow"]["data"]["nodes"])
    _settle()
    return version("lfx")


def warm_more() -> None:
    """Import and warm what runs that call models need, and what making a component needs.

    Raises RuntimeError like `warm_up`.
    """
    gc.disable()
    from lfx_runner import models  # imports the clients of models, which takes half a second
    from lfx_runner.introspect import component

    gc.freeze()
    gc.enable()
    models.prepare()
    component.warm_up()
    _settle()


def models_are_warm() -> bool:
    """Whether this process, or the one that it was forked from, has done `warm_more`."""
    return "lfx_runner.models" in sys.modules


def _settle() -> None:
    """Leave the heap as forks will share it."""
    builder._registry_cache = None  # 15 MB that no run needs
    if threading.active_count() != 1:
        raise RuntimeError("the warm-up left threads behind, so forking would not be safe")
    gc.collect()
    gc.freeze()


def touch() -> bool:
    """Run the warm-up flow once, whether it gave back its input.

    After a fork this copies the pages that any run writes to, ahead of the run that would wait for it.
    """
    with kept():
        return run_flow(_request).get("output") == _request["text"]
