"""Asks a running server over real HTTP and keeps what it answers."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.surfaces.captures.cli_capture import shown
from tests.surfaces.normalisation import plain
from tests.surfaces.subject import Served, Workplace

HEADERS = ("content-type", "cache-control", "etag", "location", "allow", "retry-after")
"""The headers of replies that every snapshot shows."""

READY_SECONDS = 180


@dataclass
class Conversation:
    """Requests to one server, with what each was answered.

    Attributes:
        served: the server.
        client: asks it.
        names: what stands in snapshots for paths and for ids that the server gave.
        captured: what was answered, by the name of its snapshot.
    """

    served: Served
    client: httpx.Client
    names: dict[str, str]
    captured: dict[str, str] = field(default_factory=dict[str, str])

    def ask(
        self,
        name: str,
        method: str,
        path: str,
        *,
        body: Any = None,
        content: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        all_headers: bool = False,
        whole: bool = False,
    ) -> httpx.Response:
        """Ask once and keep the answer.

        Args:
            name: of the snapshot.
            method: the HTTP method.
            path: the path with its query.
            body: what is sent as JSON.
            content: what is sent as it is, instead.
            headers: headers of the request.
            all_headers: whether to show every header of the reply.
            whole: whether nodes of flows are shown with everything that the catalogue knows.
        """
        sent = content if body is None else json.dumps(body)
        given = {**({} if body is None else {"Content-Type": "application/json"}), **(headers or {})}
        reply = self.client.request(method, path, content=sent, headers=given)
        parts = [f"{method} {path}", *(f"{key}: {value}" for key, value in given.items())]
        if sent is not None:
            text = sent.decode() if isinstance(sent, bytes) else sent
            parts += ["", shown(text, {}) if len(text) < 10_000 else f"<{len(text)} characters>"]
        parts += ["", f"--- {reply.status_code} {reply.reason_phrase}"]
        names = sorted(set(reply.headers) - {"date", "content-length"}) if all_headers else HEADERS
        parts += [f"{key}: {reply.headers[key]}" for key in names if key in reply.headers]
        if reply.headers.get("content-type", "").startswith("text/event-stream"):
            parts += ["", shown_events(events(reply.text), self.names)]
        elif reply.content:
            parts += ["", shown(reply.text, self.names, whole=whole)]
        self.captured[f"{name}.txt"] = plain("\n".join(parts) + "\n", self.names)
        return reply


def events(stream: str) -> list[Any]:
    """The events of server-sent events; comments that keep a connection alive are left out."""
    found: list[Any] = []
    for frame in stream.replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in frame.split("\n") if line and not line.startswith(":")]
        if lines:
            assert [line[:6] for line in lines] == ["data: "], frame
            found.append(json.loads(lines[0][6:]))
    return found


def shown_events(found: list[Any], places: Mapping[str, str]) -> str:
    """Events, normalised, one document after the other."""
    return shown("".join(json.dumps(event) + "\n" for event in found), places)


@contextmanager
def talking(place: Workplace, extra: Mapping[str, str] | None = None) -> Iterator[Conversation]:
    """A server whose engine is ready, and a client for it."""
    with place.serve(extra) as served, httpx.Client(base_url=served.url, timeout=120, trust_env=False) as client:
        token = place.run(["token"], extra=extra)
        if token.code == 0:  # an installation from before the token has no such command
            client.headers["Authorization"] = f"Bearer {token.out.strip()}"
        for _ in range(READY_SECONDS * 5):
            reply = client.get("/readyz")
            if reply.status_code == 200:
                break
            assert reply.json()["runner"] != "failed", reply.text
            time.sleep(0.2)
        else:
            raise AssertionError("The engine did not become ready.")
        yield Conversation(served, client, dict(place.places))
