"""Reading the flows that scenarios hold: spec text or Langflow JSON."""

from __future__ import annotations

import json
from functools import lru_cache

from flows.catalogue import Catalogue
from flows.document import Flow, FlowFormatError
from flows.spec import build


class BadFlow(ValueError):
    """A text of a scenario that is not a flow; the message lists every fault."""


def read_named(name: str, text: str, catalogue: Catalogue) -> Flow:
    """The flow of a text with a name in the scenario, such as `alternative 2`.

    Raises:
        BadFlow: it does not build or is not a flow; the message begins with the name.
    """
    try:
        return read_flow(text, catalogue)
    except BadFlow as bad:
        raise BadFlow(f"{name} does not build: {bad}") from None


@lru_cache(maxsize=256)
def read_flow(text: str, catalogue: Catalogue) -> Flow:
    """The flow of a text; the texts of a scenario are the same for each of its attempts, and are built once.

    Raises:
        BadFlow: it does not build or is not a flow.
    """
    if text.lstrip().startswith("{"):
        try:
            return Flow.from_json(json.loads(text))
        except (ValueError, FlowFormatError) as error:
            raise BadFlow(str(error)) from None
    built = build(text, catalogue)
    if built.flow is None:
        raise BadFlow("; ".join(fault.message for fault in built.faults if fault.is_error))
    return built.flow


def spec_ids(text: str, catalogue: Catalogue) -> dict[str, str]:
    """The node ids of a spec text's flow by their ids in the text; empty for JSON, which has its own ids."""
    return {} if text.lstrip().startswith("{") else dict(build(text, catalogue).ids)
