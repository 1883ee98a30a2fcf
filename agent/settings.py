"""The assistant's settings, from the environment."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from flows.paths import cache_folder, data_folder
from runtime.database.backends.urls import database_url
from runtime.egress.hosts import read_hosts
from runtime.egress.policy import HostRule
from runtime.engine.confinement import ConfinementRule
from runtime.files.store import COUNT_LIMIT, TOTAL_LIMIT
from runtime.files.upload import UPLOAD_LIMIT, FileLimits


class AssistantSettings(BaseSettings):
    """Settings of the assistant, from `WIREWRIGHT_*` variables."""

    model_config = SettingsConfigDict(
        env_prefix="WIREWRIGHT_", env_ignore_empty=True, extra="forbid", frozen=True, populate_by_name=True
    )

    model: str | None = None
    """`provider:name`, or `demo`. Unset: the newest model of the first provider with a key, else the demo planner."""

    data: Path = Field(default_factory=data_folder)
    """The folder where everything is stored."""

    cache: Path = Field(default_factory=cache_folder)
    """The folder of what can be rebuilt: the runner's environment and the exported catalogue."""

    concurrency: int = Field(default=2, ge=1, le=64)
    """How many flows may run at the same time."""

    run_variables: Annotated[frozenset[str], NoDecode] = frozenset()
    """Names of environment variables, separated by commas, whose values may enter runs where a secret field of a
    catalogue component names them. Keys of language models never do."""

    run_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Hosts, separated by commas, that runs may reach wherever they are: `host`, `host:port`, `*.domain`, an address or
    a network such as `10.0.0.0/8`. To a port that stands here, runs connect without the proxy, too."""

    run_network: HostRule = "allow"
    """Whether users' runs may reach public hosts: `allow`, `ask` for each, or `deny`."""

    run_confinement: ConfinementRule = "required"
    """Whether flows run on a machine whose kernel lacks Landlock or seccomp: `required` refuses them, `available` runs
    them with what there is."""

    request_limit: int = Field(default=30, ge=1)
    """The maximum number of model requests in a turn."""

    tool_limit: int = Field(default=100, ge=1)
    """The maximum number of tool calls in a turn."""

    token_limit: int = Field(default=2_000_000, ge=1_000)
    """The maximum number of tokens in a turn, including retries."""

    wait_limit: float = Field(default=120.0, ge=0.0, le=3_600.0)
    """How many seconds a turn waits altogether for a provider that asks to wait (`Retry-After`); 0 never waits."""

    context_tokens: int | None = Field(default=None, ge=4_000)
    """The size of the models' context in tokens; when it is nearly full, the turn's history is summarised. Unset: what
    is known about the model, else 128,000."""

    memory: Literal["process", "file"] = "process"
    """Where conversations are stored: in this process, or in the database (`file`), which outlives it."""

    database: str | None = Field(
        default=None,
        validation_alias=AliasChoices("WIREWRIGHT_DATABASE", "wirewright_database", "DATABASE_URL"),
    )
    """The URL of the database, such as `postgresql://user:password@host/name`, which needs the extra `postgres`; a
    plain `DATABASE_URL` is read, too. Unset: the SQLite file `wirewright.db` in the data folder."""
    runs_kept: float = Field(default=30.0, gt=0.0, le=3_650.0)
    """For how many days what ran is kept; the last 1,000 runs of a user at most."""

    approvals_kept: float = Field(default=90.0, gt=0.0, le=3_650.0)
    """For how many days a question waits for the user's answer."""

    input_limit: int = Field(default=20_000, ge=100)
    """The maximum length of a message in characters; the rest is cut, with a note for the model."""

    file_limit: int = Field(default=UPLOAD_LIMIT, ge=1_024)
    """How many bytes one of a user's files may have."""

    files_total_limit: int = Field(default=TOTAL_LIMIT, ge=1_024)
    """How many bytes all files of a user may have."""

    files_count_limit: int = Field(default=COUNT_LIMIT, ge=1)
    """How many files a user may have."""

    trace_content: bool = False
    """Whether traces and logs may contain messages, tool arguments and results. Off, they contain only names, sizes and
    durations."""

    @field_validator("run_variables", "run_hosts", mode="before")
    @classmethod
    def _names(cls, given: object) -> object:
        return [name.strip() for name in given.split(",") if name.strip()] if isinstance(given, str) else given

    @field_validator("run_hosts")
    @classmethod
    def _are_hosts(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        read_hosts(given)
        return given

    @property
    def database_url(self) -> str:
        """Where everything but files is stored, as an SQLAlchemy URL with its driver."""
        return database_url(self.database, self.data)

    @property
    def file_limits(self) -> FileLimits:
        """How much a user's files may hold."""
        return FileLimits(file_bytes=self.file_limit, total_bytes=self.files_total_limit, files=self.files_count_limit)
