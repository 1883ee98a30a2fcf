"""Playing scenarios with the oracle, by the `eval run` command."""

import json
from time import perf_counter

from benchmarks.against.process import output_of
from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite
from benchmarks.against.suites.imports import opened

SCENARIOS = (
    "branch-length",
    "echo",
    "edit-remove",
    "edit-rename",
    "extract-emails",
    "fixed-note",
    "mask-digits",
    "prompt-louder",
    "question-component",
    "run-only",
    "upper-case",
    "word-count",
)


async def attempts(side: Side) -> float:
    """Attempts a second of `wirewright eval run`, its engine's start included."""
    chosen = [word for scenario in SCENARIOS for word in ("--scenario", scenario)]
    started = perf_counter()
    printed = await output_of(side, str(side.wirewright), "eval", "run", "--player", "oracle", *chosen, "--json")
    seconds = perf_counter() - started
    played = json.loads(printed)["passed"]
    assert played == len(SCENARIOS), f"{played} of {len(SCENARIOS)} attempts passed"
    return played / seconds


SUITE = Suite(
    open=opened,
    metrics=(Metric(name="eval-attempts", unit="/s", measure=attempts, rounds=4, warm=0, higher_is_better=True),),
)
