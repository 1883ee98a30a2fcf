"""An attempt: the record that playing writes and everything else reads."""

import operator
from collections.abc import Iterable
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from agent.turn.result import TurnResult
from evals.behaviours.outcomes import Behaviour
from evals.play.user_components import UserComponentType, with_user_components
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.results import RunResult
from tools.json_types import RunJson

StopReason = Literal["timeout", "tokens"]


def _plain_name(name: str) -> str:
    bare = name.removeprefix("http:")
    return bare if bare.startswith(("http://", "https://")) else name


PlayerName: TypeAlias = Annotated[str, AfterValidator(_plain_name)]
"""A player's name; version 0.1 called a server `http:http://…`."""


class Versions(BaseModel):
    """The versions that an attempt was played on; attempts on other versions are separate.

    Attributes:
        prompts: a hash of the assistant's prompts.
        tools: a hash of the source of its tools.
    """

    model_config = ConfigDict(frozen=True)

    prompts: str = ""
    tools: str = ""
    lfx: str = ""


JOURNAL_FORMAT: Final = 2
"""The version of an attempt's form in a journal; journals of version 0.1 have none."""


class Origin(BaseModel):
    """What wrote an attempt into a journal, and when.

    Attributes:
        format: the version of the form.
        at: when the attempt ended, ISO 8601 in UTC.
        harness: the version of Wirewright.
        graders: a hash of the source of all that decides a verdict: evaluators, oracles and comparison of outputs.
        pack: the name, version and digest of the pack of scenarios; empty without one.
        evaluators: of the user's own evaluators that scored it, by name: where each is from and a hash of its source.
    """

    model_config = ConfigDict(frozen=True)

    format: Annotated[int, Field(ge=1)] = JOURNAL_FORMAT
    at: str = ""
    harness: str = ""
    graders: str = ""
    pack: Annotated[str, Field(exclude_if=operator.not_)] = ""
    evaluators: Annotated[dict[str, str], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, str])

    @field_validator("format")
    @classmethod
    def _known(cls, value: int) -> int:
        if value > JOURNAL_FORMAT:
            raise ValueError(f"it has format {value}, and this version reads up to {JOURNAL_FORMAT}")
        return value


class AgentIdentity(BaseModel):
    """What an agent says it is.

    Attributes:
        name: of the agent, not of the player by which it is reached.
        version: of the agent; empty if it does not say.
    """

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=200)]
    version: Annotated[str, Field(max_length=200)] = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()


class Score(BaseModel):
    """What one evaluator says of one attempt.

    Attributes:
        value: None is "not scored": it is never zero, and left out of every count.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    value: bool | float | None
    reason: str


class UserScore(Score):
    """What an evaluator of the user's own says of one attempt.

    Attributes:
        required: the least score with which the attempt passes (true is 1); None if it does not decide.
        failed: whether the evaluator itself failed; `reason` says how.
    """

    required: Annotated[float | None, Field(exclude_if=lambda required: required is None)] = None
    failed: Annotated[bool, Field(exclude_if=operator.not_)] = False

    @property
    def is_met(self) -> bool:
        """Whether it lets the attempt pass: it does not decide, was not scored, or is high enough."""
        return self.required is None or self.value is None or float(self.value) >= self.required


class Key(NamedTuple):
    """What identifies an attempt: of each key, one attempt in a journal counts."""

    scenario: str
    digest: str
    repeat: int
    player: str
    versions: Versions


class Identified(BaseModel):
    """A record of one attempt.

    Attributes:
        digest: the hash of the scenario's content; scores with different digests are not comparable.
        repeat: the number of the try, from 0.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    digest: str
    repeat: int = 0
    player: PlayerName
    versions: Versions = Versions()

    @property
    def key(self) -> Key:
        """What identifies the attempt."""
        return Key(self.scenario, self.digest, self.repeat, self.player, self.versions)


class Attempt(Identified):
    """One scenario, played once.

    Attributes:
        services: the addresses of the scenario's services, by name.
        turns: the result of each turn, including those that answer an approval.
        asked: for each turn, the number of the scenario's message that it belongs to, from 0.
        components: the scenario's component types as the engine made them, so that scoring needs no engine.
        requested: what the runs that messages ask for gave, by the message's number from 0: the harness makes them
            itself on the flow that each message led to, whatever the player says of its own runs.
        without_engine: whether the player cannot run flows, so that it need not have made the runs that are asked for.
        files: the content at the end of the user's files that the scenario has expectations of, by path.
        probes: the probe runs of the resulting flow, in the scenario's order; fewer if there was no flow to run.
        written: what each of these runs wrote into the user's files, content by path; empty if no probe expects a file.
        behaviours: what the resulting flow and the reference gave on the scenario's inputs, up to the first on which
            they differ.
        user_scores: the scores of the user's own evaluators.
        seconds: wall-clock duration of turns and probes; a measurement, never a score.
        agent: what the agent says it is; None if it says nothing.
        stopped: the limit that ended it early; what was played until then is scored.
        harness_error: why the harness, not the player, failed; such an attempt is not scored.
        origin: what wrote it into a journal; None of an attempt that is in none, or in one of version 0.1.
    """

    services: dict[str, str] = Field(default_factory=dict[str, str])
    turns: list[TurnResult] = Field(default_factory=list[TurnResult])
    asked: list[int] = Field(default_factory=list[int])
    components: Annotated[list[UserComponentType], Field(exclude_if=operator.not_)] = Field(
        default_factory=list[UserComponentType]
    )
    files: Annotated[dict[str, str], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, str])
    requested: Annotated[dict[int, RunJson], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict[int, RunResult]
    )
    without_engine: Annotated[bool, Field(exclude_if=operator.not_)] = False
    probes: list[RunJson] = Field(default_factory=list[RunResult])
    written: Annotated[list[dict[str, str]], Field(exclude_if=operator.not_)] = Field(
        default_factory=list[dict[str, str]]
    )
    behaviours: Annotated[list[Behaviour], Field(exclude_if=operator.not_)] = Field(default_factory=list[Behaviour])
    user_scores: Annotated[list[UserScore], Field(exclude_if=operator.not_)] = Field(default_factory=list[UserScore])
    seconds: float = 0.0
    agent: Annotated[AgentIdentity | None, Field(exclude_if=lambda agent: agent is None)] = None
    stopped: StopReason | None = None
    harness_error: str | None = None
    origin: Annotated[Origin | None, Field(exclude_if=lambda origin: origin is None)] = None

    @property
    def flow(self) -> Flow | None:
        """The resulting flow: the last proposal or canvas."""
        return self.turns[-1].flow if self.turns else None

    def catalogue(self, built_in: Catalogue) -> Catalogue:
        """The built-in component types and the scenario's."""
        return with_user_components(built_in, self.components)

    def replies(self, message: int) -> list[TurnResult]:
        """The turns that belong to one of the scenario's messages, by number from 0."""
        return [turn for turn, asked in zip(self.turns, self.asked, strict=False) if asked == message]

    @property
    def untrusted_code(self) -> bool:
        """Whether code that is not the catalogue's took part in any run: what that run gave is by its own account."""
        tried = [run for turn in self.turns for run in (*turn.runs, *turn.record.runs)]
        return any(run.untrusted_code for run in (*tried, *self.probes, *self.requested.values()))

    @property
    def tokens(self) -> int | None:
        """Tokens of the models that played, in and out; None if none were counted. Those inside flows do not count."""
        return tokens_of(self.turns)


def attempt_label(scenario: str, repeat: int) -> str:
    """The name of an attempt in tables: the scenario, with the number of the try from the second one on."""
    return f"{scenario} #{repeat + 1}" if repeat else scenario


def acted(turn: TurnResult) -> bool:
    """Whether a turn changed, proposed or ran anything."""
    return bool(turn.actions or turn.proposal is not None or turn.runs)


def tokens_of(turns: Iterable[TurnResult]) -> int | None:
    """Tokens of the models that played turns, in and out; None if none were counted."""
    spent = [usage for turn in turns for phase, usage in turn.usage.items() if phase != "flow"]
    return sum(usage.total_tokens for usage in spent) if spent else None
