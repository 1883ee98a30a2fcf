"""A comment for a pull request: what changed first, never too long, and no meaning given to what a model said."""

from dataclasses import replace

import pytest

from evals.gate import Gate
from evals.report.formats.pull_request import LIMIT, as_pull_request
from evals.report.model import Material, gather


def test_it_begins_with_the_result_and_then_says_what_changed(material: Material) -> None:
    gate = Gate(floors={"passed": 0.9})
    text = as_pull_request(gather(replace(material, gate=(gate, ()), gate_name="gate.yaml"), None))
    parts = ["passed **6 of 8**", "does not pass the gate", "compared with", "| better |", "| deciding score |"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert text.index("<details>") > places[-1]
    assert "| `behaves` |" not in text, "a score's name is no text of a model"


def test_it_says_how_many_were_not_judged(material: Material) -> None:
    entry = material.play.entries[0]
    verdict = entry.verdict.model_copy(update={"passed": None, "harness_error": "no engine"})
    broken = replace(material.play, entries=(replace(entry, verdict=verdict), *material.play.entries[1:]))
    text = as_pull_request(gather(replace(material, play=broken), None))
    assert "**1 not judged**" in text
    assert "harness: no engine" in text


@pytest.mark.parametrize("limit", [LIMIT, 8_000, 3_000, 1_000])
def test_it_is_never_longer_than_it_may_be(limit: int, material: Material) -> None:
    entries = tuple(
        replace(
            entry,
            attempt=entry.attempt.model_copy(update={"repeat": repeat}),
            verdict=entry.verdict.model_copy(update={"repeat": repeat}),
        )
        for entry in material.play.entries
        for repeat in range(60)
    )
    text = as_pull_request(gather(replace(material, play=replace(material.play, entries=entries)), None), limit)
    assert len(text) <= limit
    assert "passed **" in text


def test_what_a_model_said_stays_in_code_spans(material: Material) -> None:
    title = "a | `b` <script>\n# c"
    text = as_pull_request(gather(replace(material, title=title), None))
    assert text.splitlines()[0] == "## `a ¦ ´b´ <script> # c`"
