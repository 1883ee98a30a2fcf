"""The documents about models."""

from typing_extensions import TypedDict

from agent.models.overview import ModelTest


class ModelsTested(TypedDict):
    """Which models answered; ok when at least one was tested and all did."""

    ok: bool
    models: list[ModelTest]
