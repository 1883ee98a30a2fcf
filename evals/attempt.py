"""An attempt: the one thing that playing writes and everything else reads."""

from pydantic import BaseModel, ConfigDict, Field

from agent.turn import RunJson, TurnResult
from flows.document import Flow
from runtime.results import RunResult


class Attempt(BaseModel):
    """One scenario, played once.

    Attributes:
        scenario: its id.
        digest: its content's hash; scores of another digest are not comparable.
        repeat: which try this is, from 0.
        player: who played.
        build: the versions that were played on.
        turns: what each turn came to.
        probes: the probe runs of the resulting flow, in the scenario's order; fewer when there was no flow to run.
        seconds: wall-clock duration of turns and probes.
        harness_error: why the harness, not the player, failed; such an attempt is not scored.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    digest: str
    repeat: int = 0
    player: str
    build: str = ""
    turns: list[TurnResult] = Field(default_factory=list[TurnResult])
    probes: list[RunJson] = Field(default_factory=list[RunResult])
    seconds: float = 0.0
    harness_error: str | None = None

    @property
    def flow(self) -> Flow | None:
        """The flow that the user is left with: the last proposal or canvas."""
        return self.turns[-1].flow if self.turns else None
