"""Removes a run's secrets from its results, its errors and its streamed text."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection
from dataclasses import replace
from urllib.parse import quote, quote_plus

from flows.document import Json
from flows.json_values import as_object
from runtime.options import RunOptions
from runtime.results import RunError, RunResult
from runtime.run_events import EventKind, NodeFinished, NodeToken, RunEvent

HIDDEN = "***"


class Redactor:
    """Replaces every secret of one run, also as encoded in URLs, headers and JSON."""

    def __init__(self, secrets: Collection[str]) -> None:
        """Replace `secrets`; without any, everything passes unchanged."""
        forms = {form for secret in secrets for form in _forms(secret) if form}
        self._forms = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._forms))) if forms else None
        every = [re.escape(form.encode("utf-8", errors="replace")) for form in self._forms]
        self._bytes = re.compile(b"|".join(every)) if every else None
        self._pending: dict[str, str] = {}
        """Held back text that may be the beginning of a secret, by node."""

    def text(self, text: str) -> str:
        """The text without secrets."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def content(self, content: bytes) -> bytes:
        """The content of a file without secrets, whatever its encoding is."""
        if self._bytes is None:
            return content
        return self._bytes.sub(HIDDEN.encode(), content)

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

    @property
    def hides(self) -> bool:
        """Whether there is anything to replace."""
        return self._pattern is not None

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
            hosts=tuple(replace(each, host=self.text(each.host)) for each in result.hosts),
        )

    def guard(self, options: RunOptions) -> RunOptions:
        """The options of a run whose events reach `options.on_event` without secrets, and only those it wants."""
        on_event, wanted = options.on_event, frozenset(options.event_kinds)
        if on_event is None:
            return options

        def forward(event: RunEvent) -> None:
            for redacted in self.event(event):
                if redacted.event in wanted:
                    on_event(redacted)

        ends: frozenset[EventKind] = frozenset({"node_finished"} if self.hides and "token" in wanted else ())
        return replace(options, on_event=forward, event_kinds=wanted | ends)  # the end releases text held back

    def event(self, event: RunEvent) -> list[RunEvent]:
        """The event without secrets; text that may begin one is held back until more text follows."""
        if self._pattern is None:
            return [event]
        if isinstance(event, NodeToken):
            text = self.text(self._pending.pop(event.node, "") + event.text)
            size = self._secret_prefix(text)
            if size:
                self._pending[event.node] = text[-size:]
                text = text[:-size]
            return [NodeToken(node=event.node, text=text)] if text else []
        if isinstance(event, NodeFinished) and (rest := self._pending.pop(event.node, "")):
            return [NodeToken(node=event.node, text=rest), event]
        return [event]

    def _error(self, error: RunError) -> RunError:
        return replace(error, message=self.text(error.message), fix=self.text(error.fix))

    def _secret_prefix(self, text: str) -> int:
        """The number of characters at the end of `text` that may be the beginning of a secret."""
        longest = 0
        for form in self._forms:
            for size in range(min(len(form) - 1, len(text)), longest, -1):
                if text.endswith(form[:size]):
                    longest = size
                    break
        return longest


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
