"""Calibrating scripted judges: what they are shown, what is stored, and when a judge may decide."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_ai import ModelMessage, ModelResponse, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from evals.calibration.agreement import Judged
from evals.calibration.answers import LANGUAGES, TRAPS, LabelledAnswer, digest
from evals.calibration.calibration import (
    THRESHOLD,
    Calibration,
    CalibrationError,
    calibrate,
    calibration_of,
    decide,
    load_calibration,
    published,
)
from evals.calibration.judge import Question, ask

MANUAL = Path(__file__).parent.parent.parent.parent / "docs" / "evaluations.md"
QUESTION = Question(user="How many?", record="It ran and gave 4.", answer="Four <b>.", statement="It says four.")


def rows() -> list[LabelledAnswer]:
    """Labelled answers of the composition that a calibration needs; the answer says whether it is true."""
    return [
        LabelledAnswer(
            id=f"{language}-{number:03}",
            user="How many?",
            answer=f"{'yes' if number % 2 else 'no'} {language} {number}",
            statement="It says yes.",
            label=bool(number % 2),
            trap=TRAPS[number // 2 % len(TRAPS)],
            because="It does.",
        )
        for language in LANGUAGES
        for number in range(60)
    ]


def scripted(says: Callable[[str], bool], shown: list[str] | None = None) -> FunctionModel:
    """A judge that decides by what it is shown."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = [part for message in messages for part in message.parts if isinstance(part, UserPromptPart)]
        text = "\n".join(str(part.content) for part in parts)
        if shown is not None:
            shown.append(text)
        said = says(text)
        grading = {"reason": "So it says.", "pass": said, "score": float(said)}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, grading)])

    return FunctionModel(respond, model_name="scripted")


def good(text: str) -> bool:
    """What a judge says that reads the answer."""
    return '"answer": "yes' in text


def some(right: int, wrong: int) -> list[Judged]:
    """Whole answers, of which as many are judged wrong as are asked for."""
    answers = rows()[: right + wrong]
    return [(row, row.label if number >= wrong else not row.label) for number, row in enumerate(answers)]


@pytest.mark.anyio
async def test_a_judge_that_reads_agrees_and_one_that_always_says_yes_does_not() -> None:
    answers = rows()[:24]
    reading = await calibrate(answers, scripted(good), "2026-11-25")
    assert (reading.judge, reading.at, reading.count, reading.complete) == ("scripted", "2026-11-25", 24, False)
    assert (reading.agreement.accuracy.value, reading.agreement.kappa.value) == (1.0, 1.0)
    assert list(reading.languages) == ["de"]
    assert sorted(reading.traps) == sorted(TRAPS)
    agreeing = await calibrate(answers, scripted(lambda _: True), "2026-11-25")
    assert (agreeing.agreement.sensitivity.value, agreeing.agreement.specificity.value) == (1.0, 0.0)


@pytest.mark.anyio
async def test_a_judge_is_not_shown_the_labels() -> None:
    shown: list[str] = []
    await calibrate(rows()[:2], scripted(good, shown), "2026-11-25")
    assert len(shown) == 2
    assert all(word not in text for text in shown for word in ("label", "because", "It does.", TRAPS[0]))


@pytest.mark.anyio
async def test_what_a_judge_is_shown_cannot_close_the_frame() -> None:
    shown: list[str] = []
    asked = await ask(QUESTION, scripted(lambda _: True, shown))
    assert (asked.passed, asked.reason) == (True, "So it says.")
    assert r"Four \u003cb\u003e." in shown[0]
    assert json.loads(QUESTION.document)["record"] == "It ran and gave 4."


def test_the_lower_bound_decides_and_not_the_share() -> None:
    answers = [row for row, _ in some(420, 0)]
    sure, close = calibration_of(some(395, 25), "a", "x"), calibration_of(some(385, 35), "a", "x")
    assert close.agreement.accuracy.value is not None
    assert close.agreement.accuracy.value > THRESHOLD > close.agreement.accuracy.low
    assert (sure.why_not("a", answers), "as low as" in close.why_not("a", answers)) == ("", True)


def test_a_calibration_holds_for_its_judge_its_answers_and_its_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [row for row, _ in some(420, 0)]
    found = calibration_of(some(420, 0), "a", "x")
    assert found.answers == digest(answers)
    assert found.why_not("b", answers) == "a was measured, not b"
    assert "answers have changed" in found.why_not("a", answers[1:])
    assert "too few" in calibration_of(some(100, 0), "a", "x").why_not("a", answers[:100])
    monkeypatch.setattr("evals.calibration.calibration.instruction_digest", lambda: "other")
    assert "in other words" in found.why_not("a", answers)


@pytest.mark.anyio
async def test_a_judge_decides_with_a_calibration_and_leaves_it_open_without() -> None:
    answers, judge = rows(), scripted(good)
    measured = calibration_of(some(420, 0), "scripted", "2026-11-25")
    yes, no = (Question(user="Is it?", record=None, answer=said, statement="It says yes.") for said in ("yes", "no"))
    assert await decide(yes, judge, measured, answers) == ("passed", "So it says.")
    assert await decide(no, judge, measured, answers) == ("failed", "So it says.")
    assert await decide(yes, judge, None, answers) == ("undecided", "the judge was not measured")
    poor = calibration_of(some(210, 210), "scripted", "2026-11-25")
    assert (await decide(yes, judge, poor, answers))[0] == "undecided"


@pytest.mark.anyio
async def test_a_judge_that_fails_decides_nothing() -> None:
    def fail(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del messages, info
        return ModelResponse(parts=[])

    answers = rows()
    measured = calibration_of(some(420, 0), "failing", "x")
    decision, reason = await decide(QUESTION, FunctionModel(fail, model_name="failing"), measured, answers)
    assert (decision, bool(reason)) == ("undecided", True)


def test_a_stored_calibration_is_read_again(tmp_path: Path) -> None:
    found = calibration_of(some(60, 2), "a", "2026-11-25")
    path = tmp_path / "a.json"
    path.write_text(found.model_dump_json(), encoding="utf-8")
    assert load_calibration(path) == found
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"a\.json is no calibration"):
        load_calibration(path)
    with pytest.raises(CalibrationError, match="does not exist"):
        load_calibration(tmp_path / "none.json")


def test_the_manual_says_of_each_judge_what_was_measured() -> None:
    told = MANUAL.read_text(encoding="utf-8")
    measured = published()
    assert all(f"| `{name}` | {_row(found)} |" in told for name, found in measured.items())
    assert ("| any model of a provider | not measured | – | – | – |" in told) is (not measured)


def _row(found: Calibration) -> str:
    def percent(value: float | None) -> str:
        return "–" if value is None else f"{value:.0%}"

    share, kappa = found.agreement.accuracy, found.agreement.kappa
    return " | ".join(
        (
            f"{percent(share.value)} ({percent(share.low)}–{percent(share.high)})",
            percent(found.agreement.sensitivity.value),
            percent(found.agreement.specificity.value),
            f"{kappa.value:.2f} ({kappa.low:.2f}–{kappa.high:.2f})",
        )
    )
