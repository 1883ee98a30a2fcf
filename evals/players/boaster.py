"""The boaster: it claims everything and does nothing, and must fail the scores that matter."""

from agent.language.detect import supported_language
from agent.language.phrases import phrase
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent, IdleAgent
from evals.scenario import Scenario


class BoasterPlayer:
    """Claims everything."""

    name = "boaster"

    def prepare(self, _: Scenario, __: PlayEnvironment, /) -> Agent:
        """An agent that claims."""
        return IdleAgent(lambda request: phrase("player_boast", supported_language(request.text)))
