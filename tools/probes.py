"""Probes: what a new flow is tried with before it is presented, and what its answers show."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from flows.document import Flow
from flows.json_values import Json
from runtime.results import RunResult

PROBE = "hello"
"""The chat input of a verification run, unless the flow or its builder needs another."""

URL_PROBE = "https://example.com/"
"""The chat input for a flow that takes a web address."""

MOST_PROBES = 3
"""How many inputs a flow is tried with at most."""

_URL_FIELD = re.compile(r"(?:^|_)urls?(?:_|$)", re.IGNORECASE)
_ERROR = re.compile(
    r"^\W*(?:(?:an?\s+)?(?:[a-z]+\s+){0,2}(?:error|exception)\b\s*(?:[:(\[]|\s-\s|occurred|while|in\b|calling)"
    r"|\{\s*[\"']error[\"']\s*:|traceback \(most recent call last\)|failed to\b|[A-Z]\w*(?:Error|Exception)\b\s*[:(])",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """An input to try, and what its output should contain; nothing in particular when that is empty."""

    text: str
    shows: str = ""

    def disappointment(self, run: RunResult) -> str:
        """How a run without an error falls short, in words; empty when it does not.

        Args:
            run: the run with this input.
        """
        output = output_text(run)
        if not output.strip():
            return f"The probe {self.text!r} gave no output."
        if _ERROR.match(output) and _ERROR.match(self.text) is None:
            return f"The probe {self.text!r} gave an error as its output: {_short(output)}"
        if self.shows and _plain(self.shows) not in _plain(output):
            return f"The probe {self.text!r} gave {_short(output)!r}, which does not show {self.shows!r}."
        return ""


def probes_for(flow: Flow, chosen: Mapping[str, str]) -> list[Probe]:
    """Return the probes of a flow.

    Args:
        flow: the flow.
        chosen: inputs that its builder has chosen, with what each output should contain.
    """
    if chosen:
        return [Probe(text=text, shows=shows) for text, shows in list(chosen.items())[:MOST_PROBES]]
    return [Probe(text=URL_PROBE if _takes_url(flow) else PROBE)]


def output_text(run: RunResult) -> str:
    """What a run gave: the chat output, or all outputs that hold something."""
    if run.output is not None:
        return run.output
    held = [value for value in run.outputs.values() if _is_something(value)]
    return "\n".join(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in held)


def answered_by(flow: Flow, run: RunResult) -> str:
    """The name of the output that answered, where a flow has several and a run took one way; empty otherwise.

    Args:
        flow: the flow.
        run: its run.
    """
    ends = [node for node in flow.nodes if node.type == "ChatOutput"]
    gave = [node for node in ends if _is_something(run.outputs.get(node.id))]
    return gave[0].display_name if len(ends) > 1 and len(gave) == 1 else ""


def _takes_url(flow: Flow) -> bool:
    """Whether the chat input goes into a field for web addresses."""
    chats = {node.id for node in flow.nodes if node.type == "ChatInput"}
    return any(edge.source in chats and _URL_FIELD.search(edge.target_port) for edge in flow.edges)


def _is_something(value: Json) -> bool:
    if isinstance(value, dict):
        return any(_is_something(part) for part in value.values())
    if isinstance(value, list):
        return any(_is_something(part) for part in value)
    return bool(value.strip()) if isinstance(value, str) else value is not None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:199]}…"
