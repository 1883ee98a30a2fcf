"""A scored journal as experiments of `pydantic-evals`, whose spans Logfire shows in its view of evaluations.

Nothing is played: the task of a case returns the recorded attempt, and its evaluator the scores of the verdict. Without
consent, texts of the scenario and the attempt never leave this process: only names, scores and figures do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from evals.analysis.tally import tally
from evals.attempt import Attempt, attempt_label
from evals.exports import MissingExtra, shorten
from evals.scenario import Scenario
from evals.score import Verdict
from flows.document import Flow
from flows.spec import to_spec

if TYPE_CHECKING:
    from pydantic_evals import Dataset
    from pydantic_evals.reporting import EvaluationReport

DATASET = "wirewright"
"""The name of the dataset."""

Document: TypeAlias = dict[str, JsonValue]


class Experiment(BaseModel):
    """The experiment of one player's attempts.

    Attributes:
        cases: how many attempts it has.
        left_out: how many attempts were left out, because the harness failed and nothing was scored.
        rates: the mean of every score, over the attempts that have it.
        trace_id: of its trace; None if nothing records spans.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    cases: int
    left_out: int
    passed: int
    rates: dict[str, float]
    trace_id: str | None


@dataclass(frozen=True)
class _Recorded:
    scenario: Scenario
    attempt: Attempt
    verdict: Verdict

    @property
    def name(self) -> str:
        return attempt_label(self.scenario.id, self.attempt.repeat)


async def experiments(
    scenarios: Sequence[Scenario], attempts: Sequence[Attempt], verdicts: Sequence[Verdict], *, content: bool = False
) -> list[Experiment]:
    """Export a journal as experiments, one for each player; their spans go where `logfire` is configured to send them.

    Args:
        content: whether messages, answers, flows and reasons may be in the spans.

    Raises:
        MissingExtra: `pydantic-evals` is not installed.
        KeyError: an attempt has no scenario or no verdict.
    """
    by_id = {scenario.id: scenario for scenario in scenarios}
    by_key = {_key(verdict): verdict for verdict in verdicts}
    players: dict[str, list[_Recorded]] = {}
    for attempt in sorted(attempts, key=lambda one: (one.scenario, one.repeat)):
        recorded = _Recorded(by_id[attempt.scenario], attempt, by_key[_key(attempt)])
        players.setdefault(attempt.player, []).append(recorded)
    return [await _experiment(player, found, content=content) for player, found in sorted(players.items())]


async def _experiment(player: str, found: Sequence[_Recorded], *, content: bool) -> Experiment:
    shown = {one.name: one for one in found if one.verdict.passed is not None}
    dataset = _dataset(shown, content=content)

    async def recorded(inputs: Document) -> Document:
        one = shown[str(inputs["case"])]
        _measure(one)
        return _output(one.attempt, content=content)

    # one at a time, so that the spans are in the order of the cases
    report: EvaluationReport[Document, Document, Document] = await dataset.evaluate(
        recorded, name=player, max_concurrency=1, progress=False, metadata=_versions(found)
    )
    values = [entry.verdict for entry in shown.values()]
    return Experiment(
        name=player,
        cases=len(report.cases),
        left_out=len(found) - len(report.cases),
        passed=sum(verdict.passed is True for verdict in values),
        rates={name: rate for name, rate in tally(values).rates.items() if rate is not None},
        trace_id=report.trace_id,
    )


def _dataset(shown: Mapping[str, _Recorded], *, content: bool) -> Dataset[Document, Document, Document]:
    try:
        from pydantic_evals import Case, Dataset
        from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext
    except ImportError:
        raise MissingExtra("an experiment") from None

    class Scores(Evaluator[Document, Document, Document]):
        """The scores of the attempt; those that were not scored are left out."""

        def evaluate(
            self, ctx: EvaluatorContext[Document, Document, Document]
        ) -> dict[str, bool | int | float | str | EvaluationReason]:
            verdict = shown[str(ctx.inputs["case"])].verdict
            said = {"passed": EvaluationReason(value=verdict.passed is True)}
            for one in verdict.scores:
                if one.value is not None:
                    said[one.name] = EvaluationReason(value=one.value, reason=one.reason if content else None)
            return cast("dict[str, bool | int | float | str | EvaluationReason]", said)

    return Dataset(
        name=DATASET,
        cases=[
            Case(
                name=name,
                inputs=_inputs(name, one, content=content),
                metadata=_metadata(one, content=content),
                expected_output=_expected(one.scenario, content=content),
            )
            for name, one in shown.items()
        ],
        evaluators=[Scores()],
    )


def _inputs(name: str, one: _Recorded, *, content: bool) -> Document:
    inputs: Document = {"case": name, "scenario": one.scenario.id, "repeat": one.attempt.repeat}
    if content:
        inputs["messages"] = [shorten(text) for text in one.scenario.prompts]
        inputs["canvas"] = None if one.scenario.canvas is None else shorten(one.scenario.canvas)
    return inputs


def _metadata(one: _Recorded, *, content: bool) -> Document:
    scenario = one.scenario
    metadata: Document = {"digest": scenario.digest, "split": scenario.split, "tags": list(scenario.tags)}
    if content:
        metadata["about"] = scenario.about
    return metadata


def _expected(scenario: Scenario, *, content: bool) -> Document | None:
    return {"flow": shorten(scenario.reference)} if content and scenario.reference is not None else None


def _output(attempt: Attempt, *, content: bool) -> Document:
    flow = attempt.flow or Flow.empty()
    output: Document = {
        "outcomes": [turn.outcome for turn in attempt.turns],
        "components": len(flow.components),
        "connections": len(flow.edges),
        "stopped": attempt.stopped,
    }
    if content:
        output["answers"] = [shorten(turn.text) for turn in attempt.turns]
        output["runs"] = [shorten(run.output or "") for turn in attempt.turns for run in turn.runs]
        output["flow"] = "" if flow.is_empty else shorten(to_spec(flow))
    return output


def _measure(one: _Recorded) -> None:
    """Record what the attempt took when it was played: the task, which only returns it, takes no time."""
    from pydantic_evals import increment_eval_metric

    measured = one.verdict.measured
    for name in ("seconds", "tokens", "calls", "cost"):
        value = getattr(measured, name)
        if value is not None:
            increment_eval_metric(f"played_{name}", value)


def _versions(found: Sequence[_Recorded]) -> dict[str, JsonValue]:
    """The versions that were played on, and how many attempts the harness failed."""
    versions = sorted({one.attempt.versions.model_dump_json() for one in found})
    failed = sum(one.verdict.passed is None for one in found)
    return {"versions": list(versions), "harness_errors": failed}


def _key(one: Attempt | Verdict) -> tuple[str, int, str]:
    return one.scenario, one.repeat, one.player
