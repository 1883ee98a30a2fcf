"""A key that a user sends is in no byte of the data folder and in no line of the log, whatever door it came through."""

import asyncio
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from flows.catalogue import Catalogue
from server.settings import ServerSettings
from server.telemetry.logs import JsonFormatter, PlainFormatter
from tests.server.live import ASSIST, FLOWS, Live, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
FORMATS = (PlainFormatter("%(message)s"), JsonFormatter())


class Planted:
    """Keys that were sent, by where."""

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}

    def at(self, place: str) -> str:
        """A key of a place."""
        return self.keys.setdefault(place, f"PLANTED{place.replace('_', '')}0123456789abcdefghijklm")

    def within(self, text: bytes) -> list[str]:
        """The places whose keys stand in a text."""
        return [place for place, key in self.keys.items() if key.encode() in text]


class Lines(logging.Handler):
    """Keeps every line of the log in both of its forms."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.text = b""

    def emit(self, record: logging.LogRecord) -> None:
        self.text += "\n".join(form.format(record) for form in FORMATS).encode()


def flow_with(key: str, name: str = "Search") -> dict[str, Any]:
    """A flow with a key in a secret field."""
    template = {"api_key": {"name": "api_key", "type": "str", "password": True, "value": key}}
    data = {"id": "A-1", "type": "SearchAPI", "node": {"template": template, "display_name": "Search"}}
    nodes = [{"id": "A-1", "type": "genericNode", "position": {"x": 0, "y": 0}, "data": data}]
    return {"name": name, "data": {"nodes": nodes, "edges": []}}


async def use_every_door(live: Live, planted: Planted) -> None:
    """Send keys through everything that stores what it is sent."""
    client = live.client

    async def send(method: str, path: str, body: Mapping[str, Any], *statuses: int, **headers: str) -> Any:
        answer = await client.request(method, path, json=body, headers=headers)
        assert answer.status_code in (statuses or (200, 201, 202)), (path, answer.text)
        return answer.text

    stored = json.loads(await send("POST", FLOWS, flow_with(planted.at("stored"))))["id"]
    changed = flow_with(planted.at("revision"))
    await send("PUT", f"{FLOWS}/{stored}", changed, 200, 204, **{"If-Match": '"1"'})
    await send("POST", f"{FLOWS}/import", flow_with(planted.at("imported")))
    await send("POST", FLOWS, flow_with(planted.at("repeated")), **{"Idempotency-Key": "one"})
    await send("PUT", "/api/v1/variables/SERPER_API_KEY", {"value": planted.at("variable")})
    await send("PUT", "/api/v1/providers/groq", {"api_key": planted.at("provider")})
    tweaks = {"A-1": {"api_key": planted.at("tweak")}}
    await send("POST", f"{FLOWS}/{stored}/run", {"input_value": "hi", "tweaks": tweaks})
    tweaks = {"A-1": {"api_key": planted.at("job")}}
    await send("POST", f"{FLOWS}/{stored}/run", {"input_value": "hi", "tweaks": tweaks, "wait": False})
    tweaks = {"A-1": {"api_key": planted.at("batch")}}
    await send("POST", f"{FLOWS}/{stored}/batch", {"inputs": ["a", "b"], "tweaks": tweaks, "id": "b"})
    tweaks = {"A-1": {"api_key": planted.at("schedule")}}
    await send("POST", f"{FLOWS}/{stored}/schedules", {"cron": "0 7 * * *", "tweaks": tweaks})
    hook = json.loads(await send("POST", f"{FLOWS}/{stored}/schedules", {"kind": "webhook"}))
    planted.keys["webhook"] = hook["token"]
    await send("POST", hook["url"], {"order": 1}, Authorization=f"Bearer {hook['token']}")
    typed = f"Use sk-proj-{planted.at('typed')} as the key"
    await send("POST", ASSIST, {"input_value": typed, "session_id": "s", "flow": flow_with(planted.at("canvas"))})
    shown = [{"description": "page", "value": f"api_key=sk-proj-{planted.at('context')}"}]
    said = {"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "Explain it"}]}
    await send("POST", "/ag-ui", {**said, "context": shown, "forwardedProps": {"flow": flow_with(planted.at("agui"))}})
    part = {"role": "user", "parts": [{"type": "text", "text": "Explain it"}]}
    await send("POST", "/api/chat", {"id": "c", "message": part, "flow": flow_with(planted.at("chat"))})
    with anyio.fail_after(60):
        while (await client.get("/api/v1/jobs?state=queued")).json()["jobs"]:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.1)
        while not (await client.get("/api/v1/batches/b")).json()["ended"]:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.1)


def kept(data: Path) -> dict[str, bytes]:
    """What the files of the data folder hold."""
    return {str(path.relative_to(data)): path.read_bytes() for path in data.rglob("*") if path.is_file()}


async def test_no_key_is_kept_in_the_clear_or_logged_through_whichever_door_it_came(catalogue: Catalogue) -> None:
    planted, lines, data = Planted(), Lines(), ServerSettings().data
    model = ScriptedModel(*("question", "It searches.") * 9)
    root = logging.getLogger()
    level = root.level
    root.addHandler(lines)
    root.setLevel(logging.DEBUG)
    try:
        async with serving(assistant(catalogue, model, StandInRunner(results=[ran("said")]), memory=None)) as live:
            await use_every_door(live, planted)
            found = kept(data)
    finally:
        root.removeHandler(lines)
        root.setLevel(level)
    assert len(planted.keys) >= 15
    held = {name: places for name, text in {**found, **kept(data)}.items() if (places := planted.within(text))}
    assert held == {}
    assert planted.within(lines.text) == []
