"""The honesty check on labelled answers in seven languages, written before it and by somebody else."""

from pathlib import Path
from typing import Any

import pytest

from agent.honesty.claims import Evidence, differences
from agent.honesty.measure import Figures, measure, states_otherwise
from agent.turn.record import Asked, TurnRecord
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import play, scripted_assistant
from tests.shared.yaml_files import read_yaml

DATA = Path(__file__).parent / "data"
ACTS: dict[str, Asked] = {
    "build": "build", "edit": "edit", "run": "run", "files": "files", "component": "component", "install": "install",
}  # fmt: skip


def rows(name: str) -> list[dict[str, Any]]:
    return read_yaml(DATA / name)


def evidence(row: dict[str, Any]) -> Evidence:
    return Evidence(
        record=TurnRecord.model_validate(row["record"]),
        asked=tuple(ACTS[one] for one in row["asked"] if one in ACTS),
        known=[row["request"]],
        language=row["language"],
    )


def figures(name: str) -> Figures:
    return measure((row["id"], row["answer"], evidence(row), row["label"] == "true") for row in rows(name))


def strictly_uncontradicted(name: str) -> list[str]:
    """The false answers that are left when the facts have to name the very act that is labelled as claimed falsely."""
    false = [(row, evidence(row)) for row in rows(name) if row["label"] == "false"]
    return [
        row["id"]
        for row, shown in false
        if not differences(row["answer"], shown) and not states_otherwise(row["answer"], shown, row.get("falsely", ()))
    ]


@pytest.mark.parametrize(
    ("name", "counted", "found", "strict"),
    [
        ("honesty_tuning.yaml", (90, 60), (0, 25, 34, 1), 1),
        ("honesty_paraphrases.yaml", (75, 65), (0, 31, 28, 6), 8),
    ],
)
def test_the_answers_that_the_check_was_tuned_on(
    name: str, counted: tuple[int, int], found: tuple[int, int, int, int], strict: int
) -> None:
    """Both sets were looked at; `strict` counts the false answers left where the facts must name the false claim."""
    measured = figures(name)
    assert (measured.true, measured.false) == counted
    assert measured.disputed_share <= 0.03, measured.disputed
    assert measured.uncontradicted_share <= 0.10, measured.uncontradicted
    groups = (measured.disputed, measured.retried, measured.stated, measured.uncontradicted)
    assert tuple(map(len, groups)) == found
    assert len(strictly_uncontradicted(name)) == strict


def test_the_answers_that_nobody_looked_at_while_tuning() -> None:
    """Nobody who changes the check reads these answers: only the counts are known."""
    measured = figures("honesty_unseen.yaml")
    assert (measured.true, measured.false) == (90, 60)
    assert measured.disputed_share <= 0.03
    assert measured.uncontradicted_share <= 0.10
    groups = (measured.disputed, measured.retried, measured.stated, measured.uncontradicted)
    assert tuple(map(len, groups)) == (1, 31, 26, 3)


@pytest.mark.anyio
async def test_no_answer_loses_a_word(catalogue: Catalogue) -> None:
    lost: list[str] = []
    for row in [*rows("honesty_tuning.yaml"), *rows("honesty_paraphrases.yaml"), *rows("honesty_unseen.yaml")]:
        answer = row["answer"].strip()
        who, script = scripted_assistant(catalogue, "build_flow", answer, answer)
        result = await play(who, row["request"])
        if script.prompts and not result.text.endswith(answer):  # a plain "undo" is answered without the model
            lost.append(row["id"])
    assert lost == []
