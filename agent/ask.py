"""One message in, one result out: an assistant that is opened for a single turn."""

import asyncio
from collections.abc import Mapping
from typing import Literal

from pydantic_ai.models import Model

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.document import Flow


def ask(
    text: str,
    flow: Flow | Mapping[str, object] | None = None,
    *,
    settings: AssistantSettings | None = None,
    model: Model | None = None,
    apply: Literal["ask", "always"] = "ask",
) -> TurnResult:
    """Take one turn and wait for its end. To see it while it happens, or from a coroutine, use `Assistant.turn`.

    Args:
        text: the message.
        flow: the canvas, as a `Flow` or as Langflow JSON; None for an empty one.
        settings: the settings; None reads them from the environment.
        model: answers instead of the configured providers.
        apply: whether plans and replaced texts on the canvas wait for approval (`ask`) or not (`always`).

    Returns:
        The result; `result.flow` is the proposed or changed flow, `result.record` says what was done. The result of a
        turn that failed has `error`.

    Raises:
        TypeError: `text` is not a string, `flow` is not a flow, or an event loop is already running.
        FlowFormatError: the JSON is not a flow; the error names the place.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (callers need not check types)
        raise TypeError(f"text is {type(text).__name__}; give what you want as str.")
    if flow is not None and not isinstance(flow, Flow):
        if not isinstance(flow, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  (likewise)
            raise TypeError(f"flow is {type(flow).__name__}; give a Flow, or Langflow JSON as dict.")
        flow = Flow.from_json(dict(flow))
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        request = TurnRequest(text=text, flow=flow, apply=apply)
        return asyncio.run(_ask(request, settings, model))
    raise TypeError(
        "wirewright.ask cannot be called while an event loop runs; use Assistant.open and Assistant.turn there."
    )


async def _ask(request: TurnRequest, settings: AssistantSettings | None, model: Model | None) -> TurnResult:
    async with Assistant.open(settings, model=model) as assistant, assistant.turn(request) as events:
        async for event in events:
            if isinstance(event, TurnEnded):
                return event.result
    raise AssertionError("a turn ends with TurnEnded")
