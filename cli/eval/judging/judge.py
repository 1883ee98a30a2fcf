"""`wirewright eval judge`: let a language model judge the attempts of a journal; it decides where it was measured."""

import asyncio
from itertools import count
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.engine import ready_catalogue
from cli.errors import BadUsage, CommandError
from cli.eval.play.options import VERDICTS, Journal, PackName
from cli.eval.play.selection import all_scenarios, attempts_of, readable, scored, use_pack
from cli.options import Json
from cli.output.files import note_replaced, writable, writing
from cli.output.streams import print_json, print_result, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.models import Model

    from cli.documents.evals import RubricSum
    from evals.analysis.llm_judge import Opinion, Rubric
    from evals.attempt import Attempt
    from evals.calibration.answers import LabelledAnswer
    from evals.calibration.calibration import Calibration
    from evals.calibration.statements import Decided
    from evals.score import Verdict
    from flows.catalogue import Catalogue


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
    calibration: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Its calibration, with which it decides statements (eval calibrate)."),
    ] = None,
    answers: Annotated[
        str | None, typer.Option(metavar="DIR", help="Your own labelled answers, instead of the built-in ones.")
    ] = None,
    scores: Annotated[str | None, typer.Option(metavar="FILE", help=VERDICTS)] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Opinions at the same time.")] = 2,
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Let a language model judge the attempts of a journal.

    Opinions on rubrics change no score. The statements of scenarios about answers are decided by a judge whose
    calibration is good enough, and undecided by others.
    """
    use_pack(pack)
    from cli.documents.evals import Judged
    from evals.analysis.llm_judge import Opinion, opinions
    from evals.attempt import attempt_label
    from evals.calibration.statements import with_decisions
    from evals.exports import MissingExtra
    from evals.jsonl import JsonLines
    from evals.score import Verdict

    target, scores_target = writable(out), writable(scores, "--scores")
    rubrics, measured, known = _rubrics(rubric or ["goal"]), _calibration(calibration), labelled(answers)
    judging = judge_model(model)
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
        decided = asyncio.run(_decisions(attempts, catalogue, judging, measured, known))
    except MissingExtra as missing:
        raise CommandError("extra_needed", f"{missing}.", fix="Install wirewright[evals].") from None
    if target is not None:
        note_replaced(target)
        with writing(target):
            JsonLines(target, Opinion).write(found)
    if scores_target is not None:
        with writing(scores_target, "--scores"):
            JsonLines(scores_target, Verdict).write(with_decisions(verdict, decided) for verdict in verdicts)
    sums = [_summary(rubric.name, found, verdicts) for rubric in rubrics]
    if as_json:
        print_json(Judged(judge=judging.model_name, rubrics=sums, opinions=found, decisions=decided))
        return
    for entry in found:
        print_result(_line(entry))
    for entry in decided:
        print_result(
            f"{attempt_label(entry.scenario, entry.repeat)}  {entry.decision}: {entry.statement} ({entry.reason})"
        )
    for entry in sums:
        print_result(", ".join(f"{key} {_shown(value)}" for key, value in entry.items()))


def _rubrics(names: list[str]) -> "list[Rubric]":
    from evals.analysis.llm_judge import RubricError, load_rubric

    try:
        return [load_rubric(name) for name in dict.fromkeys(names)]
    except RubricError as error:
        raise BadUsage("bad_rubric", f"{error}.", fix="Name a built-in rubric or a file.", where="--rubric") from None


def _calibration(name: str | None) -> "Calibration | None":
    from evals.calibration.calibration import CalibrationError, load_calibration

    try:
        return None if name is None else load_calibration(Path(name))
    except CalibrationError as error:
        fix = "Measure the judge: wirewright eval calibrate."
        raise BadUsage("bad_calibration", f"{error}.", fix=fix, where="--calibration") from None


def labelled(folder: str | None) -> "tuple[LabelledAnswer, ...]":
    """The labelled answers of a folder, or those that come with Wirewright.

    Raises:
        BadUsage: they cannot be read.
    """
    from evals.calibration.answers import FOLDER, AnswersError, load_answers

    try:
        return load_answers(FOLDER if folder is None else Path(folder))
    except AnswersError as fault:
        message = f"{fault.place}: {fault.message}."
        raise BadUsage("bad_answers", message, fix="Correct it.", where="--answers") from None


async def _decisions(
    attempts: "Sequence[Attempt]",
    catalogue: "Catalogue",
    model: "Model",
    calibration: "Calibration | None",
    answers: "Sequence[LabelledAnswer]",
) -> "list[Decided]":
    """What the judge decides of the scenarios' statements about attempts."""
    from evals.calibration.statements import decide_statements

    scenarios = {(scenario.id, scenario.digest): scenario for scenario in all_scenarios()}
    found: list[Decided] = []
    for attempt in attempts:
        scenario = scenarios.get((attempt.scenario, attempt.digest))
        if scenario is not None:
            found += await decide_statements(scenario, attempt, catalogue, model, calibration, answers)
    return found


def judge_model(name: str, *, where: str = "--model") -> "Model":
    """The model of a judge.

    Args:
        where: the argument that names it.

    Raises:
        BadUsage: there is none of that name, or it is no language model.
    """
    from agent.errors import ModelChoiceError
    from agent.models.connections import connect
    from agent.models.providers import choose

    try:
        choice = choose(name, None)
        if choice.is_demo:
            raise BadUsage("no_judge", "The demo planner cannot judge.", fix="Use provider:name.", where=where)
        return connect(choice.provider, choice.names[0])
    except ModelChoiceError as refused:
        error = refused.error
        raise BadUsage(error.code, error.message, fix=error.fix, where=where) from None


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
