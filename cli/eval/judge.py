"""`wirewright eval judge`: let a language model judge the attempts of a journal; its opinions decide nothing."""

import asyncio
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated

import typer

from cli.engine import ready_catalogue
from cli.errors import BadUsage, CommandError
from cli.eval.play.options import Journal, PackName
from cli.eval.play.selection import all_scenarios, attempts_of, readable, scored, use_pack
from cli.options import Json
from cli.output.files import note_replaced, writable, writing
from cli.output.streams import print_json, print_result, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.models import Model

    from cli.documents.evals import RubricSum
    from evals.analysis.llm_judge import Opinion, Rubric
    from evals.score import Verdict


def judge(
    journal: Journal,
    model: Annotated[str, typer.Option("--model", metavar="M", help="Who judges, as provider:name.")],
    rubric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE", help="What is judged: goal, clarity, or a Markdown file; several are allowed."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write every opinion there, as JSON lines (opinions.jsonl).")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Opinions at the same time.")] = 2,
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Let a language model judge the attempts of a journal; its opinions do not change the scores."""
    use_pack(pack)
    from cli.documents.evals import Judged
    from evals.analysis.llm_judge import Opinion, opinions
    from evals.exports import MissingExtra
    from evals.jsonl import JsonLines

    target = writable(out)
    rubrics = _rubrics(rubric or ["goal"])
    judging = _model(model)
    attempts, catalogue = attempts_of(readable(journal)), ready_catalogue()
    verdicts = scored(attempts, catalogue)
    report = progress()
    judged = count(1)

    async def one(_: "Opinion") -> None:
        report(f"{next(judged)} of {len(rubrics) * len(attempts)} judged")

    try:
        found = asyncio.run(
            opinions(all_scenarios(), attempts, catalogue, rubrics, judging, concurrency=concurrency, on_opinion=one)
        )
    except MissingExtra as missing:
        raise CommandError("extra_needed", f"{missing}.", fix="Install wirewright[evals].") from None
    if target is not None:
        note_replaced(target)
        with writing(target):
            JsonLines(target, Opinion).write(found)
    sums = [_summary(rubric.name, found, verdicts) for rubric in rubrics]
    if as_json:
        print_json(Judged(judge=judging.model_name, rubrics=sums, opinions=found))
        return
    for entry in found:
        print_result(_line(entry))
    for entry in sums:
        print_result(", ".join(f"{key} {_shown(value)}" for key, value in entry.items()))


def _rubrics(names: list[str]) -> "list[Rubric]":
    from evals.analysis.llm_judge import RubricError, load_rubric

    try:
        return [load_rubric(name) for name in dict.fromkeys(names)]
    except RubricError as error:
        raise BadUsage("bad_rubric", f"{error}.", fix="Name a built-in rubric or a file.", where="--rubric") from None


def _model(name: str) -> "Model":
    from agent.errors import ModelChoiceError
    from agent.models.connections import connect
    from agent.models.providers import choose

    try:
        choice = choose(name, None)
        if choice.is_demo:
            raise BadUsage("no_judge", "The demo planner cannot judge.", fix="Use provider:name.", where="--model")
        return connect(choice.provider, choice.names[0])
    except ModelChoiceError as refused:
        error = refused.error
        raise BadUsage(error.code, error.message, fix=error.fix, where="--model") from None


def _summary(rubric: str, found: "Sequence[Opinion]", verdicts: "Sequence[Verdict]") -> "RubricSum":
    """How often the rubric was met, the mean score, and how often the judge agrees with the deciding scores."""
    from cli.documents.evals import RubricSum

    mine = [one for one in found if one.rubric == rubric and one.passed is not None]
    scores = sorted(one.score for one in mine if one.score is not None)
    key = attrgetter("scenario", "digest", "repeat", "player")
    passed: dict[object, bool | None] = {key(verdict): verdict.passed for verdict in verdicts}
    pairs = [(one.passed, passed.get(key(one))) for one in mine]
    both = [(judged, scored) for judged, scored in pairs if scored is not None]
    return RubricSum(
        rubric=rubric,
        judged=len(mine),
        passed=sum(one.passed is True for one in mine),
        mean=sum(scores) / len(scores) if scores else None,
        agreement=sum(judged == scored for judged, scored in both) / len(both) if both else None,
        failed=sum(one.rubric == rubric and one.error is not None for one in found),
    )


def _line(one: "Opinion") -> str:
    name = one.scenario if not one.repeat else f"{one.scenario} #{one.repeat + 1}"
    if one.error is not None:
        return f"{name}  {one.rubric}: no opinion ({one.error})"
    return f"{name}  {one.rubric}: {'yes' if one.passed else 'no'} {_shown(one.score)}  {one.reason}"


def _shown(value: object) -> str:
    match value:
        case None:
            return "-"
        case float():
            return f"{value:.2f}"
        case _:
            return str(value)
