"""A scored journal in the layout of a Hugging Face dataset: a card with its header, and rows as JSON lines.

Two configurations: `attempts`, a row for each attempt, and `scenarios`, a row for each scenario by split. References
and criteria are in neither, so that a published dataset gives nothing away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import yaml
from pydantic import JsonValue

from evals.analysis.tally import tally
from evals.exports.recorded import Recorded, plain
from evals.report.summary import percent
from evals.scenario import Scenario
from evals.score import EVALUATORS

Row: TypeAlias = dict[str, JsonValue]

ATTEMPTS: Final = "data/attempts.jsonl"

_COLUMNS = (
    "`score_…` is a score from 0 to 1 (true is 1, null is not scored); `passed` is null where the harness failed. "
    "Reference flows and criteria are not part of the dataset."
)

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def dataset(players: Mapping[str, Sequence[Recorded]], title: str) -> dict[str, str]:
    """The files of a dataset, by their paths in it.

    Args:
        players: the attempts of each player.
        title: what the dataset is called.
    """
    found = [one for attempts in players.values() for one in attempts]
    names = list(dict.fromkeys([*EVALUATORS, *(score.name for one in found for score in one.verdict.scores)]))
    scenarios = {one.scenario.id: one.scenario for one in found}
    splits = {
        split: [_scenario_row(one) for _, one in sorted(scenarios.items()) if one.split == split]
        for split in ("dev", "test")
    }
    files = {ATTEMPTS: _lines([_attempt_row(one, names) for one in found])}
    files |= {_path(split): _lines(rows) for split, rows in splits.items() if rows}
    return {"README.md": _card(title, players, [split for split, rows in splits.items() if rows], len(found)), **files}


def _attempt_row(one: Recorded, names: Sequence[str]) -> Row:
    """A row; every row has the same columns, and a column one type: a score is a number, and true is 1."""
    attempt, verdict = one.attempt, one.verdict
    scores = {name: None if (value := verdict.value(name)) is None else float(value) for name in names}
    return {
        "scenario": attempt.scenario,
        "digest": attempt.digest,
        "split": one.scenario.split,
        "tags": list(one.scenario.tags),
        "repeat": attempt.repeat,
        "player": plain(attempt.player),
        "agent": "" if attempt.agent is None else plain(str(attempt.agent)),
        "models": [plain(model) for model in one.models],
        "passed": verdict.passed,
        **{f"score_{name}": value for name, value in scores.items()},
        "why": plain(verdict.why),
        "harness_error": plain(verdict.harness_error or ""),
        "messages": [plain(message) for message in one.messages],
        "answers": list(one.answers),
        "flow": one.flow,
        "seconds": float(verdict.measured.seconds),
        "tokens": verdict.measured.tokens,
        "calls": verdict.measured.calls,
        "cost": verdict.measured.cost,
        "ended": "" if one.ended is None else one.ended.isoformat(),
        "harness": attempt.origin.harness if attempt.origin else "",
        "graders": attempt.origin.graders if attempt.origin else "",
        "engine": attempt.versions.lfx,
    }


def _scenario_row(scenario: Scenario) -> Row:
    return {
        "scenario": scenario.id,
        "digest": scenario.digest,
        "about": plain(scenario.about),
        "tags": list(scenario.tags),
        "messages": [plain(message) for message in scenario.prompts],
        "open": scenario.open,
        "probes": len(scenario.probes),
    }


def _card(title: str, players: Mapping[str, Sequence[Recorded]], splits: Sequence[str], rows: int) -> str:
    files = [{"split": split, "path": _path(split)} for split in splits]
    header = {
        "pretty_name": title,
        "language": ["multilingual"],
        "task_categories": ["text-generation"],
        "tags": ["wirewright", "langflow", "agents", "evaluation"],
        "size_categories": [next((name for most, name in _SIZES if rows < most), "n>1M")],
        "configs": [
            {
                "config_name": "attempts",
                "data_files": [{"split": "train", "path": ATTEMPTS}],
                "default": True,
            },
            {"config_name": "scenarios", "data_files": files},
        ],
    }
    lines = [
        f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---",
        f"# {title}",
        "Attempts of agents at building, editing, explaining and running Langflow flows, scored by Wirewright.",
        "| player | passed | judged | not judged |\n| --- | --- | --- | --- |\n"
        + "\n".join(_player_row(name, attempts) for name, attempts in players.items()),
        _COLUMNS,
    ]
    return "\n\n".join(lines) + "\n"


def _player_row(name: str, attempts: Sequence[Recorded]) -> str:
    counted = tally([one.verdict for one in attempts])
    shown = plain(name).replace("|", "¦").replace("`", "´")
    return (
        f"| `{shown}` | {counted.passed} ({percent(counted.pass_rate)}) | {counted.scored} | {counted.harness_errors} |"
    )


def _path(split: str) -> str:
    return f"data/scenarios-{split}.jsonl"


def _lines(rows: Sequence[Row]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
