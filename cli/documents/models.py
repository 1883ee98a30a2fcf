"""The documents about models."""

from typing_extensions import TypedDict

from agent.models.overview import ModelTest


class KeyRemoved(TypedDict):
    """The provider for which nothing is kept any more."""

    removed: str


class ModelsTested(TypedDict):
    """Which models answered; ok when at least one was tested and all did."""

    ok: bool
    models: list[ModelTest]
