"""The demo planner as a player: the baseline that every model must beat."""

from agent.assistant import Assistant
from agent.models.providers import DEMO
from evals.players import Stage, Turns
from evals.scenario import Scenario


class DemoPlayer:
    """Plays every scenario with the rules of the demo planner."""

    name = DEMO

    def seat(self, _: Scenario, stage: Stage, /) -> Turns:
        """An assistant that has no other model."""
        settings = stage.settings.model_copy(update={"model": DEMO})
        return Assistant(settings, stage.runner, catalogue=stage.catalogue)
