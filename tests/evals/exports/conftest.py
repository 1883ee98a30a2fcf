"""A small scored journal: a right attempt with tokens, a wrong one, one that the harness failed, another player's."""

from decimal import Decimal

import pytest
from pydantic_ai.usage import RunUsage

from evals.attempt import AgentIdentity, Attempt, Origin
from evals.exports.recorded import Recorded, recorded
from evals.score import score_attempt
from flows.catalogue import Catalogue
from tests.evals.conftest import Played, scenario_named
from tests.shared.stand_ins import ran

ECHO = scenario_named("echo")
TEMPLATE = scenario_named("edit-template")
KEY = "sk-proj-" + "a1B2" * 12
"""A key in an answer, which no export may hold."""


@pytest.fixture
def players(played: Played, catalogue: Catalogue) -> dict[str, list[Recorded]]:
    """The attempts of two players."""
    origin = Origin(at="2026-05-06T07:08:09+00:00", harness="0.2.0", graders="abc")
    right = played(
        TEMPLATE,
        TEMPLATE.reference,
        text="I changed it.",
        runs=[ran("Whisper: hello")],
        origin=origin,
        seconds=9.0,
    )
    usage = {"main": RunUsage(input_tokens=30, output_tokens=4, cost=Decimal("0.5"))}
    spent = right.model_copy(
        update={
            "turns": [turn.model_copy(update={"usage": usage}) for turn in right.turns],
            "agent": AgentIdentity(name="mine", version="3"),
        }
    )
    wrong = played(TEMPLATE, None, text=f"I changed it. {KEY}", repeat=1, seconds=0.5)
    failed = played(ECHO, ECHO.reference, harness_error="no engine")
    other = played(
        TEMPLATE, TEMPLATE.reference, text="I changed it.", runs=[ran("Whisper: hello")], player="another | `x`\n"
    )
    attempts: list[Attempt] = [failed, wrong, spent, other]
    scenarios = {"echo": ECHO, "edit-template": TEMPLATE}
    verdicts = [score_attempt(scenarios[one.scenario], one, catalogue) for one in attempts]
    return recorded(list(scenarios.values()), attempts, verdicts)
