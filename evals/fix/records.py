"""The record of a fix: a line of what `eval fix --out` writes, and what a report shows beside failed attempts."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict

from evals.attempt import Attempt, Key, Versions
from evals.fix.search import MinimalFix
from tools.json_schema import ActionJson


class Fix(BaseModel):
    """The smallest fix of one attempt.

    Attributes:
        scenario: its id.
        digest: its content's hash when it was played.
        repeat: which try, from 0.
        player: who played.
        versions: what was played on.
        actions: the changes of the flow that the attempt left, in order.
        whole: how many changes the whole way to the right flow has.
        tries: how many flows were tried.
        proven: whether every smaller set of changes was tried.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    digest: str
    repeat: int = 0
    player: str
    versions: Versions = Versions()
    actions: tuple[ActionJson, ...]
    whole: int
    tries: int
    proven: bool

    @classmethod
    def of(cls, attempt: Attempt, found: MinimalFix) -> Self:
        """The fix that was found for an attempt."""
        return cls(
            scenario=attempt.scenario,
            digest=attempt.digest,
            repeat=attempt.repeat,
            player=attempt.player,
            versions=attempt.versions,
            actions=found.actions,
            whole=found.whole,
            tries=found.tries,
            proven=found.proven,
        )

    @property
    def key(self) -> Key:
        """The key of the attempt that it fixes."""
        return Key(self.scenario, self.digest, self.repeat, self.player, self.versions)
