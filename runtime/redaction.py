"""Keeps secrets of a run out of what comes out of it: values, errors, and text that arrives in pieces."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection
from dataclasses import replace
from urllib.parse import quote, quote_plus

from flows.document import Json
from flows.json_values import as_object
from runtime.results import RunError, RunEvent, RunResult

HIDDEN = "***"


class Scrubber:
    """Replaces every secret of one run, also where it was encoded for an address, a header or JSON."""

    def __init__(self, secrets: Collection[str]) -> None:
        """`secrets` are the values that must not come out; without any, everything passes unchanged."""
        forms = {form for secret in secrets for form in _forms(secret) if form}
        longest_first = sorted(forms, key=len, reverse=True)
        self._forms = longest_first
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None
        self._held: dict[str, str] = {}

    def text(self, text: str) -> str:
        """The text without secrets."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def value(self, value: Json) -> Json:
        """A value without secrets, in texts, numbers and names."""
        if self._pattern is None:
            return value
        match value:
            case str():
                return self.text(value)
            case bool() | None:
                return value
            case int() | float():
                return HIDDEN if self._pattern.fullmatch(str(value)) else value
            case list():
                return [self.value(item) for item in value]
            case dict():
                return {self.text(key): self.value(item) for key, item in value.items()}

    def result(self, result: RunResult) -> RunResult:
        """A result without secrets."""
        if self._pattern is None:
            return result
        error = result.error
        return replace(
            result,
            output=None if result.output is None else self.text(result.output),
            outputs=as_object(self.value(dict(result.outputs))),
            nodes=as_object(self.value(dict(result.nodes))),
            error=None if error is None else self._error(error),
        )

    def event(self, event: RunEvent) -> list[RunEvent]:
        """What may be told of an event: text that may be the beginning of a secret waits for what follows it."""
        if self._pattern is None:
            return [event]
        if event.kind == "token":
            text = self.text(self._held.pop(event.node, "") + event.text)
            kept = self._beginning(text)
            if kept:
                self._held[event.node] = text[-kept:]
                text = text[:-kept]
            return [replace(event, text=text)] if text else []
        held = self._held.pop(event.node, "") if event.kind == "node_finished" else ""
        return [RunEvent(kind="token", node=event.node, text=held), event] if held else [event]

    def _error(self, error: RunError) -> RunError:
        return replace(error, message=self.text(error.message), fix=self.text(error.fix))

    def _beginning(self, text: str) -> int:
        """How many characters at the end of `text` may be the beginning of a secret."""
        most = 0
        for form in self._forms:
            for size in range(min(len(form) - 1, len(text)), most, -1):
                if text.endswith(form[:size]):
                    most = size
                    break
        return most


def _forms(secret: str) -> set[str]:
    encoded = base64.b64encode(secret.encode("utf-8", errors="replace")).decode("ascii")
    return {
        secret,
        quote(secret, safe="", errors="replace"),
        quote_plus(secret, errors="replace"),
        json.dumps(secret)[1:-1],
        encoded,
        encoded.rstrip("="),
        secret.encode("utf-8", errors="replace").hex(),
    }
