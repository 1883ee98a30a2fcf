"""The null player: it says and does nothing, and must fail the scores that matter."""

from evals.play.environment import PlayEnvironment
from evals.players.player import Agent, IdleAgent
from evals.scenario import Scenario


class NullPlayer:
    """Does nothing."""

    name = "null"

    def prepare(self, _: Scenario, __: PlayEnvironment, /) -> Agent:
        """An agent that stays silent."""
        return IdleAgent(lambda _: "")
