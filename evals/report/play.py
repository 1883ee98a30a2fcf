"""The attempts of a report, each with its verdict and its column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.attempt import Attempt
from evals.case import Case
from evals.journal import latest_attempts
from evals.report.clipping import line
from evals.scenario import Scenario
from evals.score import Verdict, score_attempts
from flows.catalogue import Catalogue


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One attempt, scored.

    Attributes:
        column: the player's name in the report, with the versions if one player has several.
        case: the attempt and what would have been right; None if the harness failed.
    """

    column: str
    attempt: Attempt
    verdict: Verdict
    case: Case | None

    @property
    def place(self) -> tuple[str, str, int]:
        """Its place in the report: column, scenario, repeat."""
        return self.column, self.attempt.scenario, self.attempt.repeat


@dataclass(frozen=True, kw_only=True)
class Play:
    """Everything that was played, scored.

    Attributes:
        entries: one for each attempt, by column, scenario and repeat.
    """

    scenarios: Mapping[str, Scenario]
    entries: tuple[Entry, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the players."""
        return tuple(dict.fromkeys(entry.column for entry in self.entries))

    def of(self, column: str) -> tuple[Entry, ...]:
        """The entries of one column."""
        return tuple(entry for entry in self.entries if entry.column == column)


def score_play(scenarios: Sequence[Scenario], attempts: Iterable[Attempt], catalogue: Catalogue) -> Play:
    """Score the attempts that count, and sort them.

    Args:
        attempts: as in a journal; of each key, the one that counts is taken.

    Raises:
        UnknownScenario: an attempt's scenario does not exist any more, or has changed since.
        BadFlow: a scenario's reference flow does not build from this catalogue.
    """
    counted = sorted(
        latest_attempts(attempts).values(), key=lambda one: (one.scenario, one.repeat, one.player, _stamp(one))
    )
    verdicts = score_attempts(scenarios, counted, catalogue)
    names = _columns(counted)
    by_id = {scenario.id: scenario for scenario in scenarios}
    entries = [
        Entry(
            column=names[attempt.player, _stamp(attempt)],
            attempt=attempt,
            verdict=verdict,
            case=None if verdict.passed is None else Case.of(by_id[attempt.scenario], attempt, catalogue),
        )
        for attempt, verdict in zip(counted, verdicts, strict=True)
    ]
    played = {entry.attempt.scenario for entry in entries}
    return Play(
        scenarios={name: by_id[name] for name in sorted(played)},
        entries=tuple(sorted(entries, key=lambda entry: entry.place)),
    )


def _stamp(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.versions.prompts, attempt.versions.tools, attempt.versions.lfx


def _columns(attempts: Sequence[Attempt]) -> dict[tuple[str, tuple[str, str, str]], str]:
    """The name of each player on each set of versions: the player's name alone if that is unique."""
    stamps: dict[str, set[tuple[str, str, str]]] = {}
    for attempt in attempts:
        stamps.setdefault(attempt.player, set()).add(_stamp(attempt))
    return {
        (player, stamp): line(player, 80)
        if len(found) == 1
        else f"{line(player, 80)} (prompts {stamp[0][:6]}, tools {stamp[1][:6]}, lfx {stamp[2]})"
        for player, found in stamps.items()
        for stamp in found
    }
