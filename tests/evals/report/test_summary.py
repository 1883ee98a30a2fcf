"""What the table of a play shows of one player, and of several."""

from io import StringIO

from rich.console import Console

from evals.analysis.tally import tally
from evals.attempt import Score
from evals.report.summary import reasons, summary, table
from evals.score import EVALUATORS, Verdict


def verdict(player: str, *, passed: bool) -> Verdict:
    """A verdict whose scores are all the same."""
    scores = tuple(Score(name=name, value=passed, reason="because") for name in EVALUATORS)
    return Verdict(scenario="echo", digest="d", player=player, passed=passed, scores=scores)


def shown(*verdicts: Verdict) -> list[str]:
    """The lines of the table."""
    console = Console(width=250, file=StringIO())
    console.print(table(tally(list(verdicts)), "players"))
    file = console.file
    assert isinstance(file, StringIO)
    return [line for line in file.getvalue().splitlines() if "echo" in line]


def test_the_rows_and_reasons_of_several_players_say_whose_they_are() -> None:
    found = [verdict("python:mine:play", passed=False), verdict("demo", passed=True)]
    rows = shown(*found)
    assert len(rows) == 2
    assert {name for name in ("python:mine:play", "demo") for row in rows if name in row} == {
        "python:mine:play",
        "demo",
    }
    assert all(line.startswith("echo (python:mine:play): ") for line in reasons(tally(found)))


def test_one_player_stands_above_the_table_alone() -> None:
    found = verdict("demo", passed=False)
    assert all("demo" not in row for row in shown(found))
    assert all(line.startswith("echo: ") for line in reasons(tally([found])))


def test_what_was_not_judged_is_named_beside_the_headline() -> None:
    judged = [
        verdict("demo", passed=number < 90).model_copy(update={"scenario": f"s{number}"}) for number in range(178)
    ]
    broken = [
        verdict("demo", passed=True).model_copy(
            update={"scenario": f"b{number}", "passed": None, "harness_error": "no engine"}
        )
        for number in range(2)
    ]
    line = summary(tally([*judged, *broken]), 0.0)
    assert line == "passed 90 of 180, 2 not judged: the harness failed (51% of those judged)"
    assert summary(tally(judged), 0.0) == "passed 90 of 178 (51%)"
