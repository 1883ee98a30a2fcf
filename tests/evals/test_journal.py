"""The journal: whole lines, resumable, shards by concatenation."""

import json
from pathlib import Path

import pytest

from evals.attempt import Attempt
from evals.journal import latest_attempts, open_journal, read_journal
from evals.jsonl import JsonLinesError
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.demo import DemoPlayer
from evals.scenario import Scenario
from evals.score import Verdict, score_attempt
from flows.catalogue import Catalogue
from tests.evals.conftest import scenario_named

pytestmark = pytest.mark.anyio


def attempt(scenario: str = "a", repeat: int = 0, **more: object) -> Attempt:
    """An attempt without turns."""
    return Attempt(scenario=scenario, digest="d", repeat=repeat, player="p").model_copy(update=more)


async def test_a_journal_gives_back_what_was_written(environment: PlayEnvironment, tmp_path: Path) -> None:
    attempts = await play([scenario_named("echo")], DemoPlayer(), environment, repeats=2)
    journal = open_journal(tmp_path / "attempts.jsonl")
    for one in attempts:
        journal.append(one)
    again = list(read_journal(tmp_path / "attempts.jsonl"))
    assert [one.model_dump_json() for one in again] == [one.model_dump_json() for one in attempts]
    assert again[0].flow == attempts[0].flow


def test_a_journal_names_the_line_that_is_not_an_attempt(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    path.write_text(f'{attempt().model_dump_json()}\n{{"no": 1}}\n', encoding="utf-8")
    with pytest.raises(JsonLinesError, match=r"attempts\.jsonl line 2: not a valid attempt"):
        list(read_journal(path))


def test_a_line_that_a_crash_cut_off_is_dropped_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    open_journal(path).append(attempt("a"))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"scenario": "b", "dig')
    open_journal(path).append(attempt("c"))
    assert [one.scenario for one in read_journal(path)] == ["a", "c"]


def test_a_journal_that_starts_over_forgets_its_content(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    open_journal(path).append(attempt("a"))
    open_journal(path, resume=False).append(attempt("b"))
    assert [one.scenario for one in read_journal(path)] == ["b"]


def test_shards_put_together_are_the_journal_of_the_whole(tmp_path: Path) -> None:
    whole = [attempt(name, repeat) for name in "abcd" for repeat in (0, 1)]
    for number in (0, 1):
        journal = open_journal(tmp_path / f"{number}.jsonl")
        for one in whole[number::2]:
            journal.append(one)
    both = tmp_path / "both.jsonl"
    both.write_bytes((tmp_path / "0.jsonl").read_bytes() + (tmp_path / "1.jsonl").read_bytes())
    assert set(latest_attempts(read_journal(both))) == {one.key for one in whole}


def test_the_last_attempt_of_a_key_counts_but_a_harness_error_never_replaces_a_good_one() -> None:
    good, bad = attempt(seconds=1.0), attempt(harness_error="fell over")
    assert list(latest_attempts([good, bad]).values()) == [good]
    assert list(latest_attempts([bad, good]).values()) == [good]
    later = attempt(seconds=2.0)
    assert list(latest_attempts([good, later]).values()) == [later]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("http:http://h:1", "http://h:1"),
        ("http:https://h", "https://h"),
        ("http://h:1", "http://h:1"),
        ("http:x", "http:x"),
    ],
)
def test_a_server_is_called_by_its_address(written: str, read: str) -> None:
    assert attempt().model_validate({**attempt().model_dump(), "player": written}).player == read
    verdict = Verdict(scenario="a", player=written, passed=None, scores=())
    assert verdict.player == read


def test_a_scenario_that_changed_is_another_key() -> None:
    scenario = scenario_named("echo")
    changed = Scenario.model_validate_json(scenario.model_copy(update={"about": "x"}).model_dump_json(by_alias=True))
    assert changed.digest != scenario.digest
    assert attempt(digest=scenario.digest).key != attempt(digest=changed.digest).key


def test_a_last_line_that_is_cut_off_says_what_mends_it(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    whole = attempt().model_dump_json()
    path.write_text(f"{whole}\n{whole[:-20]}", encoding="utf-8")
    with pytest.raises(JsonLinesError, match=r"attempts\.jsonl line 2: the file ends in the middle .*--resume"):
        list(read_journal(path))
    path.write_text(f"{whole}\n{whole[:-20]}\n", encoding="utf-8")
    with pytest.raises(JsonLinesError, match=r"line 2: not a valid attempt \(1 fault\)"):
        list(read_journal(path))


FIRST_FIELDS = {"scenario", "digest", "repeat", "player", "turns", "probes", "seconds", "harness_error"}
"""What a line of the first journals held, beside `build`, which is no longer written."""


async def test_a_line_of_the_first_journals_is_read_and_scored(
    environment: PlayEnvironment, catalogue: Catalogue, tmp_path: Path
) -> None:
    scenario = scenario_named("edit-template")
    (made,) = await play([scenario], DemoPlayer(), environment)
    whole = json.loads(made.model_dump_json())
    assert set(whole) > FIRST_FIELDS
    old = {name: value for name, value in whole.items() if name in FIRST_FIELDS} | {"build": "0.1"}
    path = tmp_path / "attempts.jsonl"
    path.write_text(f"{json.dumps(old)}\n", encoding="utf-8")
    (read,) = read_journal(path)
    assert (read.origin, read.agent, read.behaviours, read.flow) == (None, None, [], made.flow)
    verdict = score_attempt(scenario, read, catalogue)
    assert verdict.harness_error is None
    assert verdict.passed is not None
