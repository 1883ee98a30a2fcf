"""Experiments: a scored journal in the spans of `pydantic-evals`, with texts only where there is consent."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import logfire
import pytest
from logfire.testing import CaptureLogfire

from evals.attempt import Attempt
from evals.exports import MissingExtra
from evals.exports.experiments import experiments
from evals.score import Verdict, score_attempt
from flows.catalogue import Catalogue
from tests.evals.conftest import Played, scenario_named
from tests.shared.stand_ins import ran

pytestmark = pytest.mark.anyio

ECHO = scenario_named("echo")
TEMPLATE = scenario_named("edit-template")
SAID = "I changed the template to xylophone-words and ran it."


@pytest.fixture
def spans(capfire: CaptureLogfire) -> Iterator[CaptureLogfire]:
    """What is traced while a test runs."""
    yield capfire
    logfire.configure(send_to_logfire=False, console=False)


@pytest.fixture
def journal(played: Played, catalogue: Catalogue) -> tuple[list[Attempt], list[Verdict]]:
    """Two attempts at one scenario, one of them right, one at another that the harness failed, and another player's."""
    right = played(TEMPLATE, TEMPLATE.reference, text=SAID, runs=[ran("Whisper: hello")], seconds=1.5)
    wrong = played(TEMPLATE, None, repeat=1, seconds=0.5)
    failed = played(ECHO, ECHO.reference, harness_error="no engine")
    other = played(TEMPLATE, TEMPLATE.reference, text=SAID, runs=[ran("Whisper: hello")], player="another")
    attempts = [failed, wrong, right, other]
    scenarios = {"echo": ECHO, "edit-template": TEMPLATE}
    return attempts, [score_attempt(scenarios[attempt.scenario], attempt, catalogue) for attempt in attempts]


def attributes(spans: CaptureLogfire, name: str) -> list[dict[str, Any]]:
    """The attributes of the finished spans of a name, JSON read."""
    found = [span["attributes"] for span in spans.exporter.exported_spans_as_dict() if span["name"] == name]
    return [{key: _read(value) for key, value in one.items()} for one in found]


def _read(value: object) -> object:
    return json.loads(value) if isinstance(value, str) and value[:1] in "{[" else value


async def test_each_player_is_an_experiment_with_our_scores(
    spans: CaptureLogfire, journal: tuple[list[Attempt], list[Verdict]]
) -> None:
    attempts, verdicts = journal
    found = await experiments([ECHO, TEMPLATE], attempts, verdicts)
    told = [(one.name, one.cases, one.left_out, one.passed) for one in found]
    assert told == [("another", 1, 0, 1), ("hand", 2, 1, 1)]
    assert len({one.trace_id for one in found}) == 2
    whole = attributes(spans, "evaluate {name}")
    assert [(one["name"], one["dataset_name"], one["n_cases"]) for one in whole] == [
        ("another", "wirewright", 1),
        ("hand", "wirewright", 2),
    ]
    assert all(one["gen_ai.operation.name"] == "experiment" for one in whole)
    assert whole[1]["logfire.experiment.metadata"]["metadata"]["harness_errors"] == 1


async def test_a_case_has_the_verdict_s_scores_and_what_was_measured(
    spans: CaptureLogfire, journal: tuple[list[Attempt], list[Verdict]]
) -> None:
    attempts, verdicts = journal
    await experiments([ECHO, TEMPLATE], attempts, verdicts)
    cases = {(one["case_name"], one["inputs"]["repeat"]): one for one in attributes(spans, "case: {case_name}")}
    assert {name for name, _ in cases} == {"edit-template", "edit-template #2"}
    for repeat, case in ((0, cases["edit-template", 0]), (1, cases["edit-template #2", 1])):
        verdict = next(v for v in verdicts if (v.scenario, v.repeat, v.player) == ("edit-template", repeat, "hand"))
        said = {**case["assertions"], **case["scores"]}
        expected = {one.name: one.value for one in verdict.scores if one.value is not None}
        assert {name: one["value"] for name, one in said.items()} == {**expected, "passed": verdict.passed}
        assert case["metrics"]["played_seconds"] == verdict.measured.seconds


@pytest.mark.parametrize("content", [False, True])
async def test_texts_are_in_the_spans_only_with_consent(
    spans: CaptureLogfire, journal: tuple[list[Attempt], list[Verdict]], content: bool
) -> None:
    attempts, verdicts = journal
    await experiments([ECHO, TEMPLATE], attempts, verdicts, content=content)
    everything = json.dumps(spans.exporter.exported_spans_as_dict(), default=str)
    reason = next(one.reason for one in verdicts[2].scores if one.name == "resolved")
    for text in ("xylophone-words", TEMPLATE.prompts[0][:40], "Whisper:", reason, TEMPLATE.about):
        assert (text in everything) is content, text
    assert "edit-template" in everything


async def test_the_spans_do_not_tell_where_the_harness_stands_on_the_disk(
    spans: CaptureLogfire, journal: tuple[list[Attempt], list[Verdict]]
) -> None:
    await experiments([ECHO, TEMPLATE], *journal)
    events = [span.get("events") for span in spans.exporter.exported_spans_as_dict()]
    assert [event for event in events if event] == []


async def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, journal: tuple[list[Attempt], list[Verdict]]
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_evals", None)
    with pytest.raises(MissingExtra, match=r"install wirewright\[evals\]"):
        await experiments([ECHO, TEMPLATE], *journal)
