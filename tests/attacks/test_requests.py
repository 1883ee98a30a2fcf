"""Hostile requests over a real socket: none gets in, gets something out, or changes what it may not."""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from flows.catalogue import Catalogue
from runtime.telemetry import event_fields
from server.middleware.host_check import SECURITY_HEADERS
from server.settings import ServerSettings
from server.telemetry.logs import JsonFormatter, PlainFormatter
from tests.attacks.hostile import SECRETS, Answer, fingerprint, request_bytes, rows, sent, tried
from tests.server.live import ASSIST, FLOWS, Live, serving
from tests.shared.flow_texts import LOUDER, flow_of
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio

FORBIDDEN = ("Traceback", "site-packages", "sqlite3", 'File "')
"""What shows a client the inside of the server."""


class _Lines(logging.Handler):
    """Keeps every log line, as it is written for people and for machines."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []
        self.failures: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info or event_fields(record).get("error_type") == "internal":
            self.failures.append(JsonFormatter().format(record))
        self.lines += [PlainFormatter("%(message)s").format(record), JsonFormatter().format(record)]


@dataclass
class Target:
    """A server that is attacked.

    Attributes:
        live: it, and clients for it.
        names: what the names in rows stand for.
        data: its data folder.
        outside: a folder that it has nothing to do with.
        log: what it logs.
    """

    live: Live
    names: Mapping[str, str]
    data: Path
    outside: Path
    log: _Lines = field(default_factory=_Lines)

    async def play(self, row: Mapping[str, Any]) -> list[str]:
        """Play one row; returns what does not hold."""
        before = fingerprint(self.data)
        data = request_bytes(row, {**self.names, "code": self._link()})
        try:
            answer = await sent(int(self.names["port"]), data)
        except TimeoutError:
            return ["is never answered"]
        return [*_wrong(row, answer, str(self.data)), *self._changed(row, before)]

    def _link(self) -> str:
        return self.live.access.link("").partition("code=")[2]

    def _changed(self, row: Mapping[str, Any], before: Mapping[str, str]) -> list[str]:
        after = fingerprint(self.data)
        changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        return [f"changes {name}" for name in changed if not row.get("changes")]


def _wrong(row: Mapping[str, Any], answer: Answer, data: str) -> list[str]:
    """What is wrong with an answer."""
    status: int | list[int] = row["status"]
    expected = answer.status in status if isinstance(status, list) else answer.status == status
    found = [] if expected else [f"is answered with {answer.status}: {answer.body[:200]!r}"]
    if "code" in row and f'"code":"{row["code"]}"' not in answer.body:
        found.append(f"has not the code {row['code']}: {answer.body[:200]!r}")
    never = [*SECRETS.values(), *FORBIDDEN, data, *_texts(row, "never")]
    found += [f"is answered with {text[:60]!r}" for text in never if text in answer.text]
    found += [f"is answered without {text!r}" for text in _texts(row, "has") if text not in answer.text]
    if answer.status and answer.status != 400:  # what is no HTTP is answered before the application
        missing = [name for name in SECURITY_HEADERS if f"{name.lower()}: " not in answer.text.lower()]
        found += [f"is answered without the header {name}" for name in missing]
    return found


def _texts(row: Mapping[str, Any], key: str) -> list[str]:
    given = row.get(key, [])
    return [given] if isinstance(given, str) else list(given)


@asynccontextmanager
async def attacked(catalogue: Catalogue, folder: Path) -> AsyncGenerator[Target]:
    """A server with what rows try to reach: keys, a flow, a webhook, a file, a question, a signed-in browser."""
    outside, data = folder / "outside", ServerSettings().data
    outside.mkdir()
    (outside / "private.txt").write_text(SECRETS["outside"])
    who = assistant(catalogue)
    canvas = flow_of(LOUDER, catalogue)
    async with serving(who, ServerSettings(flow_body_limit=1_000_000)) as live:
        port = str(live.client.base_url.port)
        stored = await live.client.post(FLOWS, json=canvas.to_json())
        await live.client.post("/api/v1/files", files={"file": ("notes.md", b"The office opens at nine.")})
        await live.client.put("/api/v1/variables/SERPER_API_KEY", json={"value": SECRETS["variable"]})
        await live.client.put("/api/v1/providers/groq", json={"api_key": SECRETS["provider"]})
        called = {"kind": "webhook", "input_value": "as made"}
        hook = (await live.client.post(f"{FLOWS}/{stored.json()['id']}/schedules", json=called)).json()
        question = await _question(live, canvas.to_json())
        link = live.access.link(f"http://127.0.0.1:{port}")
        cookie = (await live.stranger.get(link)).headers["set-cookie"].partition(";")[0]
        live.stranger.cookies.clear()
        names = {
            "token": live.client.headers["Authorization"].removeprefix("Bearer "),
            "host": f"127.0.0.1:{port}",
            "port": port,
            "cookie": cookie,
            "used": link.partition("code=")[2],
            "flow": stored.json()["id"],
            "question": question,
            "hook": httpx.URL(hook["url"]).path,
            "hook_token": hook["token"],
            "schedule": hook["id"],
            "outside": str(outside),
            **{f"secret_{where}": secret for where, secret in SECRETS.items()},
        }
        yield Target(live, names, data, outside)


async def _question(live: Live, canvas: Mapping[str, Any]) -> str:
    """The id of a question that waits in the conversation `victim`."""
    message = "Set the template of the prompt to 'Hush: {text}'"
    request = {"session_id": "victim", "flow": canvas, "input_value": message}
    data = (await live.client.post(ASSIST, json=request)).json()
    return data["approvals"][0]["id"]


async def test_hostile_requests_have_no_effect_and_get_nothing_out(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRETS["environment"])
    monkeypatch.setenv("WIREWRIGHT_MODEL", "demo")
    assert tried() >= 150
    async with attacked(catalogue, tmp_path) as target:
        logging.getLogger().addHandler(target.log)
        try:
            found = {row["tries"]: wrong for row in rows() if (wrong := await target.play(row))}
        finally:
            logging.getLogger().removeHandler(target.log)
        assert not found, "\n".join(f"{tries}: {'; '.join(wrong)}" for tries, wrong in found.items())
        assert (await target.live.client.get(f"{FLOWS}/{target.names['flow']}")).json()["version"] == 1
        assert (await target.live.stranger.get("/healthz")).json()["ok"] is True
    assert [path.name for path in target.outside.iterdir()] == ["private.txt"]
    assert (target.outside / "private.txt").read_text() == SECRETS["outside"]
    assert [line for line in target.log.lines if any(secret in line for secret in SECRETS.values())] == []
    assert [line for line in target.log.lines if not line.isprintable()] == []
    assert target.log.failures == []


def test_every_row_says_what_it_tries_once() -> None:
    names = [row["tries"] for row in rows()]
    assert len(set(names)) == len(names)
