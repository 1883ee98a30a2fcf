"""The figures of a report: pass rates and mean scores, by tag and split, with intervals, and costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from evals.analysis.clusters import clusters
from evals.analysis.metrics import samples
from evals.analysis.statistics import Estimate, estimate, flaky, macro
from evals.report.clipping import line
from evals.report.play import Entry, Play
from evals.score import METRICS, PASSED, Verdict


@dataclass(frozen=True, kw_only=True)
class Costs:
    """The mean cost of an attempt; None if it was not measured.

    Attributes:
        seconds: wall-clock duration of turns and probes.
        tokens: of the models that played, in and out.
        tokens_per_pass: all tokens over the attempts that passed.
    """

    seconds: float | None
    tokens: float | None
    calls: float | None
    tokens_per_pass: float | None


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The results of one player.

    Attributes:
        versions: the prompts, tools and engine that were played on, as text.
        agents: what the agents say they are.
        played: the first and the last day on which it was played, ISO 8601; empty in journals of version 0.1.
        repeats: the most tries of one scenario.
        scores: by metric, `passed` first, the mean of scenario means.
        pass_at_k: pass@k by k.
        pass_hat_k: pass^k by k.
        flaky: scenarios whose tries have different results.
    """

    name: str
    versions: str
    agents: tuple[str, ...]
    played: tuple[str, ...]
    attempts: int
    scored: int
    passed: int
    harness_errors: int
    repeats: int
    scores: dict[str, Estimate | None]
    tags: dict[str, Estimate | None]
    splits: dict[str, Estimate | None]
    pass_at_k: dict[int, float]
    pass_hat_k: dict[int, float]
    flaky: tuple[str, ...]
    costs: Costs

    @property
    def rate(self) -> Estimate | None:
        """The pass rate."""
        return self.scores[PASSED]


def standings(play: Play) -> tuple[Standing, ...]:
    """The results of every player, in the order of the columns."""
    return tuple(_standing(column, play) for column in play.columns)


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; None without any. The order does not change the result."""
    there = sorted(value for value in values if value is not None)
    return fmean(there) if there else None


def costs(verdicts: Sequence[Verdict]) -> Costs:
    """The mean cost of an attempt, without those that the harness failed."""
    scored = [verdict for verdict in verdicts if verdict.passed is not None]
    spent = [verdict.measured.tokens for verdict in scored if verdict.measured.tokens is not None]
    passed = sum(verdict.passed is True for verdict in scored)
    return Costs(
        seconds=mean(verdict.measured.seconds for verdict in scored),
        tokens=mean(spent),
        calls=mean(verdict.measured.calls for verdict in scored),
        tokens_per_pass=sum(spent) / passed if spent and passed else None,
    )


def _standing(column: str, play: Play) -> Standing:
    entries = play.of(column)
    verdicts = [entry.verdict for entry in entries]
    passed, known = samples(verdicts, PASSED), clusters(verdicts)
    tries = sorted({1, max((len(values) for values in passed.values()), default=1)})
    return Standing(
        name=column,
        versions=_versions(entries[0]),
        agents=tuple(sorted({line(str(one.attempt.agent), 120) for one in entries if one.attempt.agent is not None})),
        played=_played(entries),
        attempts=len(entries),
        scored=sum(verdict.passed is not None for verdict in verdicts),
        passed=sum(verdict.passed is True for verdict in verdicts),
        harness_errors=sum(verdict.harness_error is not None for verdict in verdicts),
        repeats=1 + max(entry.attempt.repeat for entry in entries),
        scores={measure: estimate(samples(verdicts, measure), known) for measure in METRICS},
        tags=_grouped(entries, lambda entry: play.scenarios[entry.attempt.scenario].tags, known),
        splits=_grouped(entries, lambda entry: (play.scenarios[entry.attempt.scenario].split,), known),
        pass_at_k={k: rate for k in tries if (rate := macro(passed, k)) is not None},
        pass_hat_k={k: rate for k in tries if (rate := macro(passed, k, every=True)) is not None},
        flaky=tuple(flaky(passed)),
        costs=costs(verdicts),
    )


def _grouped(
    entries: Sequence[Entry], groups: Callable[[Entry], Sequence[str]], known: Mapping[str, str]
) -> dict[str, Estimate | None]:
    found: dict[str, list[Verdict]] = {}
    for entry in entries:
        for group in groups(entry):
            found.setdefault(group, []).append(entry.verdict)
    return {group: estimate(samples(found[group], PASSED), known) for group in sorted(found)}


def _played(entries: Sequence[Entry]) -> tuple[str, ...]:
    days = sorted({one.attempt.origin.at[:10] for one in entries if one.attempt.origin and one.attempt.origin.at})
    return tuple(dict.fromkeys((days[0], days[-1]))) if days else ()


def _versions(entry: Entry) -> str:
    versions = entry.attempt.versions
    origin = entry.attempt.origin
    named = {
        "wirewright": origin.harness if origin else "",
        "graders": origin.graders if origin else "",
        "prompts": versions.prompts,
        "tools": versions.tools,
        "lfx": versions.lfx,
        "pack": line(origin.pack, 120) if origin else "",
    }
    return ", ".join(f"{name} {value}" for name, value in named.items() if value)
