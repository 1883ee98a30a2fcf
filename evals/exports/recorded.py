"""Attempts with their scenarios and verdicts, as every export reads them; secrets in texts are removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evals.attempt import Attempt
from evals.report.clipping import visible
from evals.scenario import Scenario
from evals.score import Verdict
from flows.document import Flow
from flows.fields.keys import without_keys
from flows.fields.secrets import redact
from flows.spec import to_spec


@dataclass(frozen=True)
class Recorded:
    """One attempt, its scenario and its verdict."""

    scenario: Scenario
    attempt: Attempt
    verdict: Verdict

    @property
    def messages(self) -> tuple[str, ...]:
        """The user's messages."""
        return self.scenario.prompts

    @property
    def answers(self) -> tuple[str, ...]:
        """What the agent said after each message; empty for a message that was not reached."""
        found: list[str] = []
        for number in range(len(self.scenario.turns)):
            said = [turn.text for turn in self.attempt.replies(number) if turn.text]
            found.append(plain("\n\n".join(said)))
        return tuple(found)

    @property
    def flow(self) -> str:
        """The resulting flow as spec text; empty if there is none."""
        flow = self.attempt.flow or Flow.empty()
        return "" if flow.is_empty else plain(to_spec(flow))

    @property
    def target(self) -> str:
        """What is right: the reference flow or the criteria; empty for the split that must stay unseen."""
        if self.scenario.split == "test":
            return ""
        return plain(self.scenario.reference or "\n".join(self.scenario.criteria))

    @property
    def ended(self) -> datetime | None:
        """When the attempt ended; None in old journals."""
        at = self.attempt.origin.at if self.attempt.origin else ""
        return datetime.fromisoformat(at) if at else None

    @property
    def began(self) -> datetime | None:
        """When the attempt began; None in old journals."""
        ended = self.ended
        return None if ended is None else ended - timedelta(seconds=self.attempt.seconds)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, each once."""
        return tuple(dict.fromkeys(model for turn in self.attempt.turns for model in turn.models))


def recorded(
    scenarios: Sequence[Scenario], attempts: Sequence[Attempt], verdicts: Sequence[Verdict]
) -> dict[str, list[Recorded]]:
    """The attempts of each player, by scenario and repeat.

    Raises:
        KeyError: an attempt has no scenario or no verdict.
    """
    by_id = {scenario.id: scenario for scenario in scenarios}
    by_key = {(one.scenario, one.repeat, one.player): one for one in verdicts}
    players: dict[str, list[Recorded]] = {}
    for one in sorted(attempts, key=lambda one: (one.player, one.scenario, one.repeat)):
        found = Recorded(by_id[one.scenario], one, by_key[one.scenario, one.repeat, one.player])
        players.setdefault(one.player, []).append(found)
    return players


def plain(text: str) -> str:
    """A text without keys and secrets, its control characters visible."""
    return visible(str(redact(without_keys(text))))
