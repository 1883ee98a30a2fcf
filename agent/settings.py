"""What the assistant reads from the environment."""

from pathlib import Path
from typing import Annotated, Literal

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

    tool_limit: int = Field(default=100, ge=1)
    """How many tool calls one turn may make."""

    token_limit: int = Field(default=2_000_000, ge=1_000)
    """How many tokens one turn may take, its retries included."""

    context_tokens: int | None = Field(default=None, ge=4_000)
    """How many tokens the context of the models holds; near its end, what a turn has done so far is summarised. Unset:
    what is known of the model, and 128,000 where nothing is."""

    memory: Literal["process", "file"] = "process"
    """Where conversations are kept: in this process, or in the database (`file`), which outlives it."""

    database: str | None = None
    """An SQLAlchemy URL for what is stored. Unset: `wirewright.db` in the data folder."""

    input_limit: int = Field(default=20_000, ge=100)
    """How many characters of a message are read; the rest is cut, and the model is told so."""

    trace_content: bool = False
    """Whether traces and logs may hold what was said: messages, tool arguments and results. Off, they hold names, sizes
    and durations alone."""

    @field_validator("run_variables", mode="before")
    @classmethod
    def _names(cls, given: object) -> object:
        return [name.strip() for name in given.split(",") if name.strip()] if isinstance(given, str) else given

    @property
    def database_url(self) -> str:
        """Where flows and conversations are stored, as an SQLAlchemy URL."""
        return self.database or f"sqlite+aiosqlite:///{self.data / 'wirewright.db'}"
