"""A scored journal as logs of Inspect AI (EvalLog, version 2), one for each player: its viewer and tools read them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from pydantic import JsonValue

from evals.analysis.clusters import clusters
from evals.analysis.cost import FLOW
from evals.analysis.metrics import samples
from evals.analysis.statistics import estimate
from evals.exports.recorded import Recorded, plain
from evals.score import METRICS, PASSED, Verdict

Document: TypeAlias = dict[str, JsonValue]

VERSION = 2
"""The version of the log's form."""

TASK = "wirewright"
"""The name of the task in Inspect."""


def inspect_log(player: str, found: Sequence[Recorded], written: datetime) -> Document:
    """The log of one player's attempts: a sample for each attempt, an epoch for each repeat.

    Args:
        player: its name.
        found: its attempts.
        written: when the journal was written, for attempts that do not say when they ended.
    """
    began = min((one.began for one in found if one.began is not None), default=written)
    ended = max((one.ended for one in found if one.ended is not None), default=written)
    names = list(dict.fromkeys(one.attempt.scenario for one in found))
    digest = hashlib.sha256("\n".join([player, *(f"{n.scenario.id} {n.scenario.digest}" for n in found)]).encode())
    run = digest.hexdigest()[:22]
    verdicts = [one.verdict for one in found]
    return {
        "version": VERSION,
        "status": "success",
        "eval": {
            "eval_id": run,
            "run_id": run,
            "created": _time(began),
            "task": TASK,
            "task_id": run,
            "task_version": 0,
            "task_args": {},
            "dataset": {"name": "wirewright scenarios", "samples": len(names), "sample_ids": [*names]},
            "model": plain(player),
            "model_args": {},
            "config": {"epochs": 1 + max(one.attempt.repeat for one in found)},
            "packages": _packages(found),
            "metadata": _origin(found),
        },
        "plan": {"name": "plan", "steps": [{"solver": plain(player), "params": {}}]},
        "results": {
            "total_samples": len(found),
            "completed_samples": sum(one.verdict.passed is not None for one in found),
            "scores": _scores(verdicts),
        },
        "stats": {"started_at": _time(began), "completed_at": _time(ended), "model_usage": _usage(player, found)},
        "samples": [_sample(player, one) for one in found],
    }


def _sample(player: str, one: Recorded) -> Document:
    attempt, verdict, answers = one.attempt, one.verdict, one.answers
    said: list[JsonValue] = []
    for message, answer in zip(one.messages, answers, strict=True):
        said.append({"role": "user", "content": plain(message), "source": "input"})
        if answer:
            said.append({"role": "assistant", "content": answer, "source": "generate"})
    model = one.models[-1] if one.models else player
    answer = answers[-1] if answers else ""
    choice: Document = {"message": {"role": "assistant", "content": answer}, "stop_reason": "stop"}
    sample: Document = {
        "id": attempt.scenario,
        "epoch": attempt.repeat + 1,
        "input": [{"role": "user", "content": plain(message)} for message in one.messages],
        "target": one.target,
        "messages": said,
        "output": {"model": plain(model), "choices": [choice], "completion": answer},
        "scores": _sample_scores(verdict),
        "metadata": {
            "about": one.scenario.about,
            "digest": attempt.digest,
            "split": one.scenario.split,
            "tags": list(one.scenario.tags),
            "flow": one.flow,
            "outcomes": [turn.outcome for turn in attempt.turns],
            "stopped": attempt.stopped,
            "untrusted_code": verdict.untrusted_code,
        },
        "model_usage": _usage(player, [one]),
        "total_time": attempt.seconds,
        "working_time": attempt.seconds,
    }
    if one.began is not None and one.ended is not None:
        sample.update(started_at=_time(one.began), completed_at=_time(one.ended))
    if verdict.harness_error is not None:
        sample["error"] = {"message": plain(verdict.harness_error), "traceback": "", "traceback_ansi": ""}
    return sample


def _sample_scores(verdict: Verdict) -> Document:
    """The scores; what was not scored is left out, as Inspect leaves out samples that were not."""
    if verdict.passed is None:
        return {}
    found: Document = {PASSED: {"value": verdict.passed, "explanation": plain(verdict.why) or "nothing failed"}}
    for score in verdict.scores:
        if score.value is not None:
            found[score.name] = {"value": score.value, "explanation": plain(score.reason)}
    return found


def _scores(verdicts: Sequence[Verdict]) -> list[JsonValue]:
    """The mean of each score with its 95% interval over clusters of scenarios."""
    own = [score.name for verdict in verdicts for score in verdict.scores]
    known, found = clusters(verdicts), list[JsonValue]()
    for name in dict.fromkeys([*METRICS, *own]):
        estimated = estimate(samples(verdicts, name), known)
        if estimated is None:
            continue
        scored = sum(verdict.value(name) is not None for verdict in verdicts)
        values = {"mean": estimated.mean, "low": estimated.low, "high": estimated.high}
        metrics: Document = {metric: {"name": metric, "value": value} for metric, value in values.items()}
        found.append(
            {
                "name": name,
                "scorer": name,
                "scored_samples": scored,
                "unscored_samples": len(verdicts) - scored,
                "params": {},
                "metrics": metrics,
            }
        )
    return found


def _usage(player: str, found: Sequence[Recorded]) -> Document:
    """Tokens of the models that played, under the player's name; nothing if none were counted."""
    turns = [turn for one in found for turn in one.attempt.turns]
    spent = [usage for turn in turns for phase, usage in turn.usage.items() if phase != FLOW]
    if not spent:
        return {}
    costs = [one.verdict.measured.cost for one in found]
    known = [cost for cost in costs if cost is not None]
    tokens = {"input_tokens": sum(u.input_tokens for u in spent), "output_tokens": sum(u.output_tokens for u in spent)}
    usage: Document = {**tokens, "total_tokens": sum(tokens.values())}
    if known and len(known) == len(costs):
        usage["total_cost"] = sum(sorted(known))
    return {plain(player): usage}


def _packages(found: Sequence[Recorded]) -> Document:
    harness = sorted({one.attempt.origin.harness for one in found if one.attempt.origin and one.attempt.origin.harness})
    engine = sorted({one.attempt.versions.lfx for one in found if one.attempt.versions.lfx})
    named = {"wirewright": ", ".join(harness), "lfx": ", ".join(engine)}
    return {name: versions for name, versions in named.items() if versions}


def _origin(found: Sequence[Recorded]) -> Document:
    graders = sorted({one.attempt.origin.graders for one in found if one.attempt.origin and one.attempt.origin.graders})
    agents = sorted({str(one.attempt.agent) for one in found if one.attempt.agent is not None})
    prompts = sorted({one.attempt.versions.prompts for one in found if one.attempt.versions.prompts})
    tools = sorted({one.attempt.versions.tools for one in found if one.attempt.versions.tools})
    return {"graders": [*graders], "agents": [*agents], "prompts": [*prompts], "tools": [*tools]}


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
