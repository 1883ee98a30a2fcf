"""The cassette of a judge, and `python -m scripts.judge_cassette` to record it again.

A scripted judge on loopback is asked about a few labelled answers over OpenAI's wire format. It reads the answer in its
own way: it believes answers that speak to it, and answers one question with words in place of the form.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from datetime import UTC, datetime
from typing import Any, Final

import yaml

from agent.models.connections import connect
from evals.calibration.answers import LabelledAnswer, load_answers
from evals.calibration.calibration import Calibration, calibrate
from evals.calibration.judge import instruction_digest
from scripts.cassettes import BASE_URL, PORT, cassettes
from scripts.checkout import ROOT, checkout_environment
from scripts.scripted_provider import Reply, Script, ScriptedProvider

FOLDER: Final = ROOT / "cassettes" / "judge"
CASSETTE: Final = FOLDER / "calibration.yaml"
PROVIDER: Final = "openai-chat"
MODEL: Final = "gpt-6.1-sol"
AT: Final = "2026-11-26"
LANGUAGE: Final = "de"
ROWS: Final = 12
FOOLED: Final = "injection"
"""The trap in which the scripted judge falls."""


def few() -> tuple[LabelledAnswer, ...]:
    """The answers that are recorded: the first of each trap, then others, of one language."""
    rows = [row for row in load_answers() if row.id.startswith(LANGUAGE)]
    first = {row.trap: row for row in reversed(rows)}
    chosen = [row for row in rows if first[row.trap] is row]
    return tuple([*chosen, *(row for row in rows if row not in chosen)][:ROWS])


def scripted_judge(rows: tuple[LabelledAnswer, ...], speechless: str = "") -> Script:
    """A judge that knows the labels, is fooled by answers that speak to it, and has no verdict on one answer.

    Args:
        speechless: the id of the answer about which it writes words in place of its verdict.
    """
    known = {(row.user, row.answer, row.statement): row for row in rows}

    def judge(body: dict[str, Any]) -> Reply:
        row = known[_asked(body)]
        if row.id == speechless:
            return Reply(text="Who can say?")
        said = True if row.trap == FOOLED else row.label
        verdict = {"reason": "So it says.", "pass": said, "score": float(said)}
        return Reply(calls=((body["tools"][0]["function"]["name"], verdict),))

    return judge


def _asked(body: dict[str, Any]) -> tuple[str, str, str]:
    """The message, the answer and the statement that a judge is shown."""
    texts = [text for message in body["messages"] for text in _texts(message.get("content"))]
    for text in texts:
        start, end = text.find("{"), text.rfind("}")
        if 0 <= start < end:
            try:
                shown = json.loads(text[start : end + 1])
            except json.JSONDecodeError:
                continue
            return shown["user"], shown["answer"], shown["statement"]
    raise ValueError("the judge was shown no document")


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [str(part.get("text", "")) for part in parts if isinstance(part, dict)]


def digest() -> str:
    """The digest of what is asked and answered; another one than recorded means that the cassette is stale."""
    rows = [row.model_dump(mode="json") for row in few()]
    return hashlib.sha256(json.dumps([rows, instruction_digest()]).encode()).hexdigest()[:16]


async def measured() -> Calibration:
    """The recorded judge, measured over the wire on the few answers, one after the other."""
    os.environ.update({"OPENAI_API_KEY": "sk-scripted", "OPENAI_BASE_URL": BASE_URL})
    return await calibrate(few(), connect(PROVIDER, MODEL), AT, concurrency=1)


async def record() -> None:
    """Record the cassette from the scripted judge and describe it in its metadata."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    CASSETTE.unlink(missing_ok=True)
    async with ScriptedProvider(scripted_judge(few(), few()[-1].id)).serve(PORT):
        with cassettes("all").use_cassette(str(CASSETTE)):
            await measured()
    content: dict[str, Any] = yaml.safe_load(CASSETTE.read_text(encoding="utf-8"))
    metadata = {
        "source": "scripted judge on loopback (scripts/judge_cassette.py), no real provider: its figures say nothing",
        "wire": "OpenAI Chat Completions",
        "recorded": datetime.now(UTC).date().isoformat(),
        "script": digest(),
    }
    text = yaml.safe_dump({"metadata": metadata, **content}, sort_keys=False, allow_unicode=True, width=120)
    CASSETTE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with checkout_environment():
        asyncio.run(record())
