"""The wire cassettes: how they are matched and cleaned, and `python -m scripts.cassettes` to record them again.

Every cassette comes from the scripted provider on loopback and says so in its metadata; none holds a real provider's
traffic.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import vcr
import yaml
from pydantic_ai import ToolApproved
from vcr.request import Request as Recorded

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from scripts.checkout import ROOT, checkout_environment
from scripts.conversations import APPROVAL_REQUEST, CONVERSATIONS, REQUEST, SPEC
from scripts.scripted_provider import in_order
from scripts.wire_formats import EveryWire

FOLDER = ROOT / "cassettes" / "wire"
PORT = 47931
"""Where the scripted provider listens while recording; replays ask the same address, where nothing listens."""
ADDRESS = f"http://127.0.0.1:{PORT}"
BASE_URL = f"{ADDRESS}/v1"
MODEL = "openai-chat:gpt-6.1-sol"
SECRET_HEADERS = ["authorization", "x-api-key", "x-goog-api-key", "cookie", "set-cookie"]
SECRET_HEADERS += ["openai-organization", "openai-project"]


@dataclass(frozen=True, kw_only=True)
class Wire:
    """One wire format.

    Attributes:
        model: who speaks it, newest first.
        environment: where its client finds the scripted provider.
    """

    title: str
    model: str
    environment: Mapping[str, str]


_OPENAI = {"OPENAI_API_KEY": "sk-scripted", "OPENAI_BASE_URL": BASE_URL}
WIRES: Mapping[str, Wire] = {
    "openai_chat": Wire(title="OpenAI Chat Completions", model=MODEL, environment=_OPENAI),
    "openai_responses": Wire(title="OpenAI Responses", model="openai:gpt-6.1-sol", environment=_OPENAI),
    "anthropic": Wire(
        title="Anthropic Messages",
        model="anthropic:claude-opus-5-5",
        environment={"ANTHROPIC_API_KEY": "sk-scripted", "ANTHROPIC_BASE_URL": ADDRESS},
    ),
    "google": Wire(
        title="Google generateContent",
        model="google:gemini-4-argon",
        environment={"GOOGLE_API_KEY": "scripted", "GOOGLE_GEMINI_BASE_URL": ADDRESS},
    ),
}


def wire_of(name: str) -> Wire:
    """The wire of a conversation, by the beginning of its name."""
    return next(wire for prefix, wire in WIRES.items() if name.startswith(f"{prefix}_"))


def same_json(first: Recorded, second: Recorded) -> None:
    """Match two requests by the JSON of their bodies.

    Raises:
        AssertionError: when they differ, as vcrpy wants it.
    """
    if json.loads(first.body or "null") != json.loads(second.body or "null"):
        raise AssertionError("the request bodies differ")


def cassettes(record: str = "none") -> vcr.VCR:
    """The recorder and player of wire cassettes.

    Args:
        record: vcrpy's record mode; `none` fails on any request that was not recorded.
    """
    player = vcr.VCR(
        cassette_library_dir=str(FOLDER),
        record_mode=record,
        match_on=["method", "scheme", "host", "port", "path", "json"],
        filter_headers=SECRET_HEADERS,
        decode_compressed_response=True,
    )
    player.register_matcher("json", same_json)
    return player


async def played(text: str = REQUEST, *, wire: Wire = WIRES["openai_chat"]) -> TurnResult:
    """One turn of a real assistant over a wire, to its result."""
    _point_at(wire)
    async with Assistant.open(AssistantSettings(model=wire.model)) as assistant:
        return await _result(assistant, TurnRequest(text=text, session="cassette"))


def canvas() -> Flow:
    """The flow that a turn with an approval changes, with ids that stay the same."""
    flow = build(SPEC, Catalogue.load()).flow
    if flow is None:
        raise RuntimeError("the spec of the recorded conversations does not build")
    text = json.dumps(flow.to_json(), ensure_ascii=False)
    for node in flow.nodes:
        text = text.replace(node.id, f"{node.type.split()[0].lower()}-aaaaa")
    return Flow.from_json(json.loads(text))


async def approved(*, wire: Wire = WIRES["openai_chat"]) -> tuple[TurnResult, TurnResult]:
    """A turn of a real assistant that waits for an approval, and the same turn once it was given."""
    _point_at(wire)
    flow = canvas()
    async with Assistant.open(AssistantSettings(model=wire.model)) as assistant:
        waiting = await _result(assistant, TurnRequest(text=APPROVAL_REQUEST, session="cassette", flow=flow))
        answers = dict.fromkeys(waiting.approvals, ToolApproved())
        done = await _result(assistant, TurnRequest(text="", session="cassette", flow=flow, answers=answers))
    return waiting, done


def _point_at(wire: Wire) -> None:
    """Let the clients of this process find a wire's provider, and no other."""
    for variable in {variable for other in WIRES.values() for variable in other.environment}:
        os.environ.pop(variable, None)  # a prompt names the models that are available
    os.environ.update(wire.environment)


async def _result(assistant: Assistant, request: TurnRequest) -> TurnResult:
    async with assistant.turn(request) as events:
        async for event in events:
            if isinstance(event, TurnEnded):
                return event.result
    raise RuntimeError("the turn ended without a result")


async def record(name: str) -> None:
    """Record one cassette from the scripted provider and describe it in its metadata."""
    path = FOLDER / f"{name}.yaml"
    path.unlink(missing_ok=True)
    wire = wire_of(name)
    async with EveryWire(in_order(*CONVERSATIONS[name])).serve(PORT):
        with cassettes("all").use_cassette(path.name):
            await (approved(wire=wire) if name.endswith("_approval") else played(wire=wire))
    content: dict[str, Any] = yaml.safe_load(path.read_text())
    metadata = {
        "source": "scripted provider on loopback (scripts/scripted_provider.py), no real provider",
        "wire": wire.title,
        "recorded": datetime.now(UTC).date().isoformat(),
        "script": digest(name),
    }
    path.write_text(yaml.safe_dump({"metadata": metadata, **content}, sort_keys=False, allow_unicode=True, width=120))


def digest(name: str) -> str:
    """The digest of the conversation behind a cassette; another one than recorded means that it is stale."""
    return hashlib.sha256(repr(CONVERSATIONS[name]).encode()).hexdigest()[:16]


async def _record_all() -> None:
    for name in CONVERSATIONS:
        await record(name)
        print(f"recorded {name}")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    with checkout_environment():
        asyncio.run(_record_all())
