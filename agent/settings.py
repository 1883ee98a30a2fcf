"""What the assistant reads from the environment."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from flows.paths import cache_folder, data_folder


class AssistantSettings(BaseSettings):
    """Settings of the assistant, from `WIREWRIGHT_*` variables."""

    model_config = SettingsConfigDict(env_prefix="WIREWRIGHT_", env_ignore_empty=True, extra="ignore", frozen=True)

    model: str | None = None
    """`provider:name`, or `demo`. Unset: the newest model of the first provider with a key, else the demo planner."""

    data: Path = Field(default_factory=data_folder)
    """The folder where everything is kept."""

    cache: Path = Field(default_factory=cache_folder)
    """The folder of what can be rebuilt: the runner's environment and the exported catalogue."""

    concurrency: int = Field(default=2, ge=1, le=64)
    """How many flows run at the same time."""

    run_variables: Annotated[frozenset[str], NoDecode] = frozenset()
    """Names of environment variables, separated by commas, whose values may enter runs where a secret field of a
    catalogue component names them. Keys of language models never do."""

    request_limit: int = Field(default=30, ge=1)
    """How many model requests one turn may make."""

    input_limit: int = Field(default=20_000, ge=100)
    """How many characters of a message are read; the rest is cut, and the model is told so."""

    @field_validator("run_variables", mode="before")
    @classmethod
    def _names(cls, given: object) -> object:
        return [name.strip() for name in given.split(",") if name.strip()] if isinstance(given, str) else given
