"""The demo planner as a player: the baseline that every model must beat."""

from agent.assistant import Assistant
from agent.models.providers import DEMO
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent
from evals.scenario import Scenario


class DemoPlayer:
    """Plays with the demo planner."""

    name = DEMO

    def prepare(self, _: Scenario, environment: PlayEnvironment, /) -> Agent:
        """An assistant without any other model."""
        settings = environment.settings.model_copy(update={"model": DEMO})
        return Assistant(settings, environment.runner, catalogue=environment.catalogue)
