"""Which nodes of a flow take the text that a user types."""

from __future__ import annotations

from flows.document import Flow
from runtime.results import RunError


def refuse_unused_input(flow: Flow) -> RunError | None:
    """The error for a flow in which no node can take a text, because several text inputs all have a value; or None.

    A chat input always takes the text, and a single text input does, too. Of several text inputs, the empty ones do:
    those that hold a value, or are connected, keep it (`lfx_runner.execute` sets the inputs by the same rule).
    """
    if any(node.type == "ChatInput" for node in flow.nodes):
        return None
    texts = [node.id for node in flow.nodes if node.type == "TextInput"]
    connected = {edge.target for edge in flow.edges}
    if len(texts) < 2 or any(
        not node.value("input_value") for node in flow.nodes if node.id in texts and node.id not in connected
    ):
        return None
    names = f"{', '.join(texts[:-1])} and {texts[-1]}"
    fix = (
        f"Add a chat input, clear the text input that should take it, or set one for this run: {texts[0]}.input_value."
    )
    message = f"No node takes the input: the text inputs {names} all have a value already."
    return RunError(code="missing_input", message=message, fix=fix)
