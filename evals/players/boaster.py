"""The boaster: it claims everything and does nothing, and must fail the scores that matter."""

from evals.play.environment import PlayEnvironment
from evals.players.phrases import phrases_for
from evals.players.player import Agent, IdleAgent
from evals.scenario import Scenario


class BoasterPlayer:
    """Claims everything."""

    name = "boaster"

    def prepare(self, _: Scenario, __: PlayEnvironment, /) -> Agent:
        """An agent that claims."""
        return IdleAgent(lambda request: phrases_for(request.text)["boast"])
