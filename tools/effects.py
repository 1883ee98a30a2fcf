"""The effects of a turn that leave no action behind: runs with their results, plans, and installs."""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from runtime.results import Missing, RunResult, Untrusted

TITLE_LIMIT = 80
"""The maximum length of a plan's title in characters."""


class _Effect(BaseModel):
    model_config = ConfigDict(frozen=True)


class RunEffect(_Effect):
    """A run of this turn.

    Attributes:
        by: who asked for it: the user, or the verification of a new flow.
        input: the text that it was given; None for the values as configured.
        output: the chat output; None if there was none.
        error: why it failed, in words for the user.
        untrusted_code: whether code that is not the catalogue's took part, so that all of this is by its own account.
        missing_protections: what usually confines a run and this machine lacks.
    """

    by: Literal["user", "verification"]
    input: str | None = None
    output: str | None = None
    error: str | None = None
    untrusted_code: Untrusted = False
    missing_protections: Missing = ()

    @classmethod
    def of(cls, result: RunResult, *, by: Literal["user", "verification"], text: str | None) -> "RunEffect":
        """The effect that a run's result is."""
        error = None if result.error is None else result.error.message
        return cls(
            by=by,
            input=text,
            output=result.output,
            error=error,
            untrusted_code=result.untrusted_code,
            missing_protections=result.missing_protections,
        )


PlanStatus: TypeAlias = Literal["proposed", "approved", "denied", "changed"]
InstallStatus: TypeAlias = Literal["proposed", "installed", "failed", "denied"]


class PlanEffect(_Effect):
    """What became of a plan."""

    title: str
    status: PlanStatus

    @classmethod
    def of(cls, markdown: str, status: PlanStatus) -> "PlanEffect":
        """The effect of a plan; its first line is the title."""
        first = next((line for line in markdown.splitlines() if line.strip(" #*_-")), "")
        return cls(title=first.strip(" #*_-")[:TITLE_LIMIT], status=status)

    def as_changed(self) -> "PlanEffect":
        """This plan as one that was carried out otherwise, as the user wanted it."""
        return self.model_copy(update={"status": "changed"})


class InstallEffect(_Effect):
    """What became of an install."""

    bundle: str
    status: InstallStatus
