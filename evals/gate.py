"""The gate: the scores that a play must reach."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from evals.analysis.clusters import clusters
from evals.analysis.comparison import compare
from evals.analysis.metrics import DECLARED, samples
from evals.analysis.significance import ALPHA, Significance, objections, significance
from evals.analysis.statistics import estimate
from evals.analysis.tally import read_verdicts
from evals.bounded_yaml import TooComplex, load_yaml
from evals.score import METRICS, Verdict
from runtime.files.texts import TextRefused, read_text


class GateError(ValueError):
    """A gate file that cannot be used."""


class Gate(BaseModel):
    """A gate file.

    Attributes:
        mode: `exact`, for deterministic players: any pass that turned to fail fails the gate. `statistical`, for
            sampled models: a significant fall of a declared metric fails it.
        baseline: the scores that the play is compared with, a file beside the gate file.
        metrics: for `statistical`, the metrics that are tested against the baseline, adjusted for multiple testing.
        alpha: for `statistical`, the adjusted p-value below which a fall is significant.
        sees: for `statistical`, the fall that the play must be large enough to detect with 80% power; None for any.
        floors: the lowest acceptable mean of scenario means of a score, by evaluator; `passed` is the pass rate.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Literal["exact", "statistical"] = "exact"
    baseline: str | None = None
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] = DECLARED
    alpha: Annotated[float, Field(gt=0, lt=1)] = ALPHA
    sees: Annotated[float, Field(gt=0, le=1)] | None = None
    floors: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict[str, float])

    @model_validator(mode="after")
    def _known(self) -> Gate:
        unknown = sorted(self.floors.keys() - set(METRICS))
        if unknown:
            raise ValueError(f"floors: there is no score {', '.join(unknown)}")
        if self.mode == "statistical":
            if self.baseline is None:
                raise ValueError("baseline: the statistical mode compares, so it needs one")
            undeclared = sorted(set(self.metrics) - set(METRICS))
            if undeclared:
                raise ValueError(f"metrics: there is no score {', '.join(undeclared)}")
        elif self.model_fields_set & {"metrics", "alpha", "sees"}:
            raise ValueError("metrics, alpha and sees belong to the statistical mode")
        return self


class GateResult(BaseModel):
    """The decision of a gate about a play.

    Attributes:
        reasons: why the play does not pass, one per line.
        improvements: scenarios that pass now or that are not those of the baseline, one per line; `news` in JSON.
        significance: the result of the statistical mode; None in the exact one.
    """

    model_config = ConfigDict(frozen=True, serialize_by_alias=True)

    ok: bool
    reasons: tuple[str, ...] = ()
    improvements: Annotated[tuple[str, ...], Field(serialization_alias="news")] = ()
    significance: Significance | None = None


def _fault(item: ErrorDetails) -> str:
    """One fault of a gate file, after the key that has it."""
    key = ".".join(str(part) for part in item["loc"])
    return f"{key}: {item['msg']}" if key else item["msg"]


def load_gate(path: Path) -> tuple[Gate, tuple[Verdict, ...]]:
    """Read a gate file and its baseline.

    Raises:
        GateError: either cannot be used.
        JsonLinesError: at a line of the baseline that is not a verdict.
    """
    try:
        gate = Gate.model_validate(load_yaml(read_text(path)) or {})
    except (TextRefused, TooComplex) as refused:
        raise GateError(f"{path.name} {refused}") from None
    except yaml.YAMLError:
        raise GateError(f"{path.name} is not YAML") from None
    except ValidationError as error:
        raise GateError(f"{path.name}: {'; '.join(_fault(item) for item in error.errors())}") from None
    if gate.baseline is None:
        return gate, ()
    try:
        return gate, tuple(read_verdicts(path.parent / gate.baseline))
    except OSError:
        raise GateError(f"{path.name}: the baseline {gate.baseline} cannot be read") from None


def check_gate(gate: Gate, baseline: Sequence[Verdict], verdicts: Sequence[Verdict]) -> GateResult:
    """Check a play against a gate.

    Args:
        baseline: the verdicts to compare with; those of scenarios that were not played are ignored.
    """
    played = {(verdict.scenario, verdict.repeat) for verdict in verdicts}
    difference = compare([one for one in baseline if (one.scenario, one.repeat) in played], verdicts)
    reasons = [f"{verdict.scenario}: harness: {verdict.harness_error}" for verdict in verdicts if verdict.harness_error]
    found = significance(baseline, verdicts, gate.metrics) if gate.mode == "statistical" else None
    if found is None:
        reasons += [f"{turned.scenario} passed before: {'; '.join(turned.why)}" for turned in difference.lost]
    else:
        reasons += objections(found, gate.alpha, gate.sees)
    known = clusters(verdicts)
    for name, minimum in gate.floors.items():
        reached = estimate(samples(verdicts, name), known)
        if reached is None:
            reasons.append(f"{name} was not scored, at least {minimum:.0%} is wanted")
        elif reached.mean < minimum - 1e-12:
            shown = f"95% interval {reached.span} over {reached.clusters} clusters"
            reasons.append(f"{name} is {reached.mean:.1%}, at least {minimum:.1%} is wanted ({shown})")
    improvements = [f"{turned.scenario} passes now" for turned in difference.gained] if found is None else []
    improvements += [f"{name} is another scenario than in the baseline" for name in difference.changed]
    return GateResult(ok=not reasons, reasons=tuple(reasons), improvements=tuple(improvements), significance=found)
