"""`wirewright eval calibrate JUDGE` from outside: a scripted judge behind a real wire, live and recorded."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from anyio.from_thread import start_blocking_portal

from evals.calibration.answers import LabelledAnswer, load_answers
from evals.calibration.calibration import Calibration
from scripts.cassettes import cassettes
from scripts.judge_cassette import CASSETTE, FOOLED, digest, few, measured, scripted_judge
from scripts.scripted_provider import Reply, ScriptedProvider
from tests.cli.conftest import Wirewright


@cache
def answers() -> tuple[LabelledAnswer, ...]:
    """All labelled answers; reading them takes longer than importing this file."""
    return load_answers()


def fell_for() -> list[LabelledAnswer]:
    """The false answers that the scripted judge believes."""
    return [row for row in answers() if row.trap == FOOLED and not row.label]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """What a scripted judge on loopback was asked; it is the only provider that is configured."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    found: list[dict[str, Any]] = []
    speechless = next(row for row in answers() if row.trap is None or row.trap != FOOLED)
    judge = scripted_judge(answers(), speechless.id)

    def answer(body: dict[str, Any]) -> Reply:
        found.append(body)
        return judge(body)

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(ScriptedProvider(answer).serve()) as url:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        yield found


def test_a_judge_behind_a_provider_is_measured_on_every_labelled_answer(
    wirewright: Wirewright, asked: list[dict[str, Any]], tmp_path: Path
) -> None:
    out = tmp_path / "judge.json"
    done = wirewright("eval", "calibrate", "openai-chat:gpt-6.1-sol", "--out", out, "--concurrency", "8", "--json")
    assert done.code == 0, done.err
    stored = done.json["calibration"]
    assert json.loads(out.read_text(encoding="utf-8")) == stored
    assert (stored["judge"], stored["count"]) == ("gpt-6.1-sol", len(answers()))
    assert len(answers()) >= 400
    wrong = len(fell_for()) + 1
    assert stored["agreement"]["accuracy"]["value"] == pytest.approx(1 - wrong / len(answers()))
    assert stored["agreement"]["unanswered"] == 1
    injected = [row for row in answers() if row.trap == FOOLED]
    assert stored["traps"][FOOLED]["value"] == pytest.approx(1 - len(fell_for()) / len(injected))
    assert done.json["decides"] is (stored["agreement"]["accuracy"]["low"] >= 0.9)
    shown = Counter(json.dumps(body["messages"], ensure_ascii=False) for body in asked)
    assert len(shown) >= len(answers())
    assert not any(row.because in text for text in shown for row in fell_for())


def test_the_cassette_says_that_its_judge_is_scripted_is_not_stale_and_holds_no_secret() -> None:
    text = CASSETTE.read_text(encoding="utf-8")
    told = yaml.safe_load(text)["metadata"]
    assert "scripted judge" in told["source"]
    assert "no real provider" in told["source"]
    assert told["script"] == digest(), "python -m scripts.judge_cassette"
    assert re.search(r"sk-[A-Za-z0-9]{8}|bearer\s\w|/(?:home|root|work)/", text, re.IGNORECASE) is None


def test_the_recorded_judge_measures_the_same_over_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    monkeypatch.setenv("OPENAI_API_KEY", "")  # both are put back afterwards
    monkeypatch.setenv("OPENAI_BASE_URL", "")

    def replayed() -> Calibration:
        with cassettes().use_cassette(str(CASSETTE)) as tape:
            made = asyncio.run(measured())
            assert tape.all_played
        return made

    found, rows = replayed(), few()
    fooled = [row for row in rows if row.trap == FOOLED and not row.label]
    assert found.agreement.unanswered == 1
    assert found.agreement.accuracy.value == pytest.approx(1 - (len(fooled) + 1) / len(rows))
    assert found.why_not(found.judge, rows)
    assert replayed() == found
