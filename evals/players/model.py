"""A language model as a player: the assistant with one model, `provider:name`."""

from agent.assistant import Assistant
from agent.models.providers import choose
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent
from evals.scenario import Scenario


class ModelPlayer:
    """Plays with a model of a configured provider.

    Args:
        model: `provider:name`, or a provider alone.

    Raises:
        ModelChoiceError: the provider is unknown or has no key.
    """

    def __init__(self, model: str) -> None:
        choose(model, None)
        self.name = model

    def prepare(self, _: Scenario, environment: PlayEnvironment, /) -> Agent:
        """An assistant with this model."""
        settings = environment.settings.model_copy(update={"model": self.name})
        return Assistant(settings, environment.runner, catalogue=environment.catalogue)
