"""The settings of the server's limits."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from agent.settings import AssistantSettings

CHAT_BODY_BYTES: Final = 8_000_000
"""How many bytes the body of a chat or a batch may have, unless the operator says otherwise."""


class LimitSettings(AssistantSettings):
    """Limits of the server, from `WIREWRIGHT_*` variables; those of a user are alike for all users."""

    body_limit: int = Field(default=1_000_000, ge=1_024)
    """How many bytes a request's body may have."""

    flow_body_limit: int = Field(default=32_000_000, ge=1_024)
    """How many bytes a body may have that carries a flow, or an import; most components have 5 to 30 kB."""

    chat_body_limit: int = Field(default=CHAT_BODY_BYTES, ge=1_024)
    """How many bytes the body of an AI SDK client may have, which carries the chat and its files, or of a batch."""

    message_limit: int = Field(default=200_000, ge=100)
    """How many characters a message may have; a longer one is refused, one beyond `input_limit` is read in part."""

    flows_limit: int = Field(default=5_000, ge=1)
    """How many flows a user may store."""

    nodes_limit: int = Field(default=1_000, ge=1, le=1_000)
    """How many components a flow may have."""

    user_turns: int = Field(default=250, ge=1)
    """How many turns of a user may go on at the same time."""

    turns: int = Field(default=1_000, ge=1)
    """How many turns of all users may go on at the same time."""

    user_runs: int = Field(default=16, ge=1)
    """How many runs that a user has asked for over HTTP may wait or go on at the same time."""

    runs: int = Field(default=64, ge=1)
    """How many runs that all users have asked for over HTTP may wait or go on at the same time."""

    work_seconds: float = Field(default=3_600.0, gt=0, le=86_400)
    """How many seconds a turn or a run may take, waiting included; it is ended then."""

    work_here: bool = True
    """Whether the server itself does jobs that wait in queues; if not, only workers do (`wirewright worker`)."""

    job_places: int = Field(default=2, ge=1, le=256)
    """How many jobs the server, or a worker that is not told otherwise, does at once."""

    user_jobs: int | None = Field(default=None, ge=1)
    """How many jobs of a user may go on at once, on all servers and workers. Unset: any number."""

    jobs: int | None = Field(default=None, ge=1)
    """How many jobs of all users may go on at once, on all servers and workers. Unset: any number."""

    user_queued_jobs: int = Field(default=20_000, ge=1)
    """How many jobs of a user may wait in queues, the inputs of batches included."""

    jobs_kept: float = Field(default=7.0, gt=0.0, le=3_650.0)
    """For how many days jobs and batches that have ended are kept, with what came of batches' inputs."""

    day_tokens: int | None = Field(default=None, ge=1)
    """How many tokens a user may use in a day, in UTC. Unset: any number."""

    day_cost: float | None = Field(default=None, gt=0)
    """What a user may spend in a day, in UTC and US dollars, as far as prices are known. Unset: any amount."""

    token_limits: Annotated[dict[str, int], NoDecode] = Field(default_factory=dict[str, int])
    """How many tokens a turn of a user may use, as `name=tokens` separated by commas; for others, `token_limit`."""

    @field_validator("token_limits", mode="before")
    @classmethod
    def _by_user(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        found: dict[str, str] = {}
        for entry in filter(None, (part.strip() for part in given.split(","))):
            name, sign, tokens = entry.partition("=")
            if not (name.strip() and sign):
                raise ValueError(f"{entry[:60]!r} is not a user and a number, such as ada@example.org=500000.")
            found[name.strip()] = tokens.strip()
        return found

    @field_validator("token_limits")
    @classmethod
    def _are_budgets(cls, limits: dict[str, int]) -> dict[str, int]:
        for name, tokens in limits.items():
            if tokens < 1_000:
                raise ValueError(f"{name[:60]}: a turn needs at least 1,000 tokens.")
        return {name.lower(): tokens for name, tokens in limits.items()}

    def turn_tokens(self, name: str) -> int:
        """How many tokens a turn of a user may use.

        Args:
            name: the user's name.
        """
        return self.token_limits.get(name.lower(), self.token_limit)
