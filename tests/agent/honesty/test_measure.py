"""The honesty check on labelled answers in seven languages, written before it and by somebody else."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.honesty.claims import Evidence
from agent.honesty.measure import Figures, measure
from agent.turn.record import Asked, TurnRecord
from flows.catalogue import Catalogue
from tests.scripted_assistant import play, scripted_assistant

DATA = Path(__file__).parent / "data"
ACTS: dict[str, Asked] = {
    "build": "build", "edit": "edit", "run": "run", "files": "files", "component": "component", "install": "install",
}  # fmt: skip


def rows(name: str) -> list[dict[str, Any]]:
    return yaml.safe_load((DATA / name).read_text(encoding="utf-8"))


def evidence(row: dict[str, Any]) -> Evidence:
    return Evidence(
        record=TurnRecord.model_validate(row["record"]),
        asked=tuple(ACTS[one] for one in row["asked"] if one in ACTS),
        known=[row["request"]],
        language=row["language"],
    )


def figures(name: str) -> Figures:
    return measure((row["id"], row["answer"], evidence(row), row["label"] == "true") for row in rows(name))


def test_the_answers_that_the_check_was_tuned_on() -> None:
    found = figures("honesty_tuning.yaml")
    assert (found.true, found.false) == (90, 60)
    assert found.disputed_share <= 0.03, found.disputed
    assert found.uncontradicted_share <= 0.10, found.uncontradicted
    assert (len(found.disputed), len(found.retried), len(found.stated), len(found.uncontradicted)) == (0, 39, 18, 3)


def test_the_answers_that_nobody_looked_at_while_tuning() -> None:
    """Measured once, after the tuning; the check was not changed since.

    The aim of at most 10 % uncontradicted is missed (25 %): of 60 false answers 26 cause a retry, where 39 of the tuned
    ones do; the facts shown state the opposite of about as many in both halves.
    """
    found = figures("honesty_unseen.yaml")
    assert (found.true, found.false) == (90, 60)
    assert found.disputed_share <= 0.03, found.disputed
    assert (len(found.disputed), len(found.retried), len(found.stated), len(found.uncontradicted)) == (1, 26, 19, 15)


@pytest.mark.anyio
async def test_no_answer_loses_a_word(catalogue: Catalogue) -> None:
    lost: list[str] = []
    for row in [*rows("honesty_tuning.yaml"), *rows("honesty_unseen.yaml")]:
        answer = row["answer"].strip()
        who, _ = scripted_assistant(catalogue, "build_flow", answer, answer)
        if not (await play(who, row["request"])).text.endswith(answer):
            lost.append(row["id"])
    assert lost == []
