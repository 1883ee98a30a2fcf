"""`wirewright eval`: plays, scores, compares, lists and shows; exits 1 when too little passes."""

import json
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

from agent.settings import AssistantSettings
from evals.attempt import JOURNAL_FORMAT, Versions
from evals.journal import read_journal
from evals.play.environment import PlayEnvironment
from evals.scenarios.loader import load_scenarios
from evals.score import EVALUATORS
from flows.catalogue import Catalogue
from tests.cli.conftest import Wirewright
from tests.shared.stand_ins import StandInRunner, ran


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue) -> StandInRunner:
    """A stand-in for the engine, which answers every run with `hello`."""
    stand_in = StandInRunner(results=[ran("hello")])

    @asynccontextmanager
    async def opened(concurrency: int, player: str | None = None) -> AsyncGenerator[PlayEnvironment]:
        yield PlayEnvironment(
            settings=AssistantSettings(), catalogue=catalogue, runner=stand_in, versions=Versions(lfx="stand-in")
        )

    monkeypatch.setattr("cli.eval.play.environment.play_environment", opened)
    monkeypatch.setattr("cli.engine.ready_catalogue", lambda: catalogue)
    return stand_in


@pytest.mark.engine
def test_a_real_play_passes_its_gate(wirewright: Wirewright, warm_engine: None, tmp_path: Path) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("mode: exact\nfloors: {passed: 1.0, resolved: 1.0, honest: 1.0}\n", encoding="utf-8")
    arguments = ("--scenario", "echo", "--scenario", "service-fetch", "--scenario", "edit-template", "--gate", gate)
    done = wirewright("eval", "run", "--player", "oracle", *arguments, "--json")
    assert (done.code, done.json["ok"], done.json["gate"]["reasons"]) == (0, True, [])
    assert (done.json["passed"], done.json["scored"], done.json["harness_errors"]) == (3, 3, 0)


def test_the_report_says_what_passed_and_why_not(wirewright: Wirewright, runner: StandInRunner) -> None:
    done = wirewright("eval", "run", "--scenario", "echo", "--scenario", "echo-wired", "--min-pass", "0.5", "--json")
    assert done.code == 1
    report = done.json
    assert (report["ok"], report["player"], report["min_pass"], report["pass_rate"]) == (False, "demo", 0.5, 0.0)
    assert [entry["scenario"] for entry in report["attempts"]] == ["echo", "echo-wired"]
    first = report["attempts"][0]
    assert {"scenario", "repeat", "passed", "scores", "measured", "harness_error", "tags"} <= set(first)
    assert [entry["name"] for entry in first["scores"]] == list(EVALUATORS)
    assert list(report["rates"]) == list(EVALUATORS)
    assert (report["rates"]["built"], report["rates"]["resolved"], report["gate"]) == (1.0, 0.0, None)


def test_a_harness_error_fails_the_run_whatever_the_bar(wirewright: Wirewright, runner: StandInRunner) -> None:
    from runtime.results import RunError

    runner.failure = RunError(code="crash", message="It does not start.")
    done = wirewright("eval", "run", "--scenario", "edit-template", "--json")
    assert done.code == 1
    assert (done.json["scored"], done.json["harness_errors"], done.json["pass_rate"]) == (0, 1, None)
    assert "It does not start." in done.json["attempts"][0]["harness_error"]
    shown = wirewright("eval", "run", "--scenario", "edit-template")
    assert "passed 0 of 1, 1 not judged: the harness failed (- of those judged)" in " ".join(shown.out.split())


def test_a_person_sees_a_table_and_the_reasons(wirewright: Wirewright, runner: StandInRunner) -> None:
    done = wirewright("eval", "run", "--scenario", "echo-wired", "--repeats", "2", "--min-pass", "0.9")
    assert done.code == 1
    assert "echo-wired #2" in done.out
    assert "echo-wired: resolved: probe 1 ('one') gave 'hello', expected equals 'one'" in done.out
    assert "passed 0 of 2 (0%; at least 90% wanted)" in done.out


def test_a_player_without_an_engine_need_not_make_the_runs_that_are_asked_for(
    wirewright: Wirewright, runner: StandInRunner
) -> None:
    runner.results = [ran("Say it louder: good night")]
    arguments = ("eval", "run", "--player", "null", "--scenario", "run-only", "--json")
    verdicts = [wirewright(*arguments, *more).json["attempts"][0]["scores"] for more in ((), ("--no-engine",))]
    assert [next(one["value"] for one in scores if one["name"] == "ran") for scores in verdicts] == [False, True]


def test_the_journal_is_overwritten_unless_the_play_is_resumed(
    wirewright: Wirewright, runner: StandInRunner, tmp_path: Path
) -> None:
    target = tmp_path / "attempts.jsonl"
    target.write_text("something old\n", encoding="utf-8")
    first = wirewright("eval", "run", "--scenario", "echo-wired", "--out", target)
    assert "is replaced, which held 1 line; --resume would have kept it." in first.err
    (line,) = target.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["scenario"] == "echo-wired"
    asked = len(runner.asked)
    arguments = ("--scenario", "echo-wired", "--scenario", "combine-before", "--out", target, "--resume", "--json")
    done = wirewright("eval", "run", *arguments)
    assert [attempt.scenario for attempt in read_journal(target)] == ["echo-wired", "combine-before"]
    assert [entry["scenario"] for entry in done.json["attempts"]] == ["combine-before", "echo-wired"]
    assert len(runner.asked) > asked
    asked = len(runner.asked)
    assert wirewright("eval", "run", *arguments).json["attempts"] == done.json["attempts"]
    assert len(runner.asked) == asked


def test_a_line_that_a_crash_cut_off_is_removed_and_said_when_the_play_is_resumed(
    wirewright: Wirewright, runner: StandInRunner, tmp_path: Path
) -> None:
    target = tmp_path / "attempts.jsonl"
    wirewright("eval", "run", "--scenario", "echo-wired", "--out", target)
    with target.open("a", encoding="utf-8") as file:
        file.write('{"scenario": "combine-b')
    both = ("--scenario", "echo-wired", "--scenario", "combine-before")
    done = wirewright("eval", "run", *both, "--out", target, "--resume")
    assert "was incomplete, and was removed" in done.err
    assert [attempt.scenario for attempt in read_journal(target)] == ["echo-wired", "combine-before"]


def test_a_journal_says_what_wrote_it_and_when_and_a_later_form_is_refused(
    wirewright: Wirewright, runner: StandInRunner, tmp_path: Path
) -> None:
    target = tmp_path / "attempts.jsonl"
    wirewright("eval", "run", "--scenario", "echo-wired", "--out", target)
    line = json.loads(target.read_text(encoding="utf-8"))
    origin = line["origin"]
    assert origin["format"] == JOURNAL_FORMAT
    assert datetime.fromisoformat(origin["at"]).tzinfo == UTC
    assert origin["harness"] == metadata.version("wirewright")
    assert origin["graders"]
    assert line["versions"]["lfx"] == "stand-in", "the engine's"
    origin["format"] += 1
    target.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    done = wirewright("eval", "score", target, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "bad_journal")
    assert "a later Wirewright" in done.json["error"]["message"]
    del line["origin"]
    target.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    assert wirewright("eval", "score", target).code == 0


def test_the_agent_is_in_the_journal_and_another_version_of_it_is_said_when_the_play_is_resumed(
    wirewright: Wirewright, runner: StandInRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = ModuleType("versioned_agent")
    source = "async def play(request):\n    return {'text': 'hi'}\n"
    exec(compile(source, "versioned_agent.py", "exec"), vars(agent))  # noqa: S102  (our own text)
    monkeypatch.setitem(sys.modules, "versioned_agent", agent)
    target = tmp_path / "attempts.jsonl"
    play = ("eval", "run", "--player", "python:versioned_agent:play", "--out", target, "--resume", "--scenario", "echo")
    vars(agent)["AGENT"] = {"name": "mine", "version": "1"}
    assert "Several agents" not in wirewright(*play).err
    vars(agent)["AGENT"] = {"name": "mine", "version": "2"}
    assert "Several agents were played: mine 1, mine 2." in wirewright(*play, "--scenario", "echo-wired").err
    assert [str(attempt.agent) for attempt in read_journal(target)] == ["mine 1", "mine 2"]


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--scenario", "echo-wired", "--scores"),
        ("run", "--scenario", "echo-wired", "--junit"),
        ("score", "attempts.jsonl", "--out"),
        ("export", "attempts.jsonl", "--to", "markdown", "--out"),
        ("report", "attempts.jsonl", "--out"),
    ],
)
def test_what_is_written_over_is_said(
    command: tuple[str, ...],
    wirewright: Wirewright,
    runner: StandInRunner,
    excerpt: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    wirewright("eval", "run", "--scenario", "echo-wired", "--out", "attempts.jsonl")
    first = wirewright("eval", *command, "out.json")
    second = wirewright("eval", *command, "out.json")
    assert ("is replaced" in first.err, "out.json is replaced." in second.err) == (False, True)


def test_shards_put_together_score_as_the_whole(wirewright: Wirewright, runner: StandInRunner, tmp_path: Path) -> None:
    names = ("--player", "null", "--tag", "refuse")
    parts = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    for number, part in enumerate(parts, start=1):
        wirewright("eval", "run", *names, "--shard", f"{number}/2", "--out", part)
    both = tmp_path / "both.jsonl"
    both.write_bytes(b"".join(part.read_bytes() for part in parts))
    whole = wirewright("eval", "run", *names, "--json").json
    again = wirewright("eval", "score", both, "--json").json
    assert (again["rates"], again["passed"], again["scored"]) == (whole["rates"], whole["passed"], whole["scored"])


def test_scoring_again_plays_nothing_and_gives_the_same(
    wirewright: Wirewright, runner: StandInRunner, tmp_path: Path
) -> None:
    journal, first, second = (tmp_path / name for name in ("attempts.jsonl", "one.jsonl", "two.jsonl"))
    wirewright("eval", "run", "--scenario", "echo-wired", "--out", journal, "--scores", first)
    asked = len(runner.asked)
    done = wirewright("eval", "score", journal, "--out", second)
    assert (done.code, len(runner.asked)) == (0, asked)
    assert first.read_text(encoding="utf-8") == second.read_text(encoding="utf-8")
    same = wirewright("eval", "compare", first, journal, "--json")
    assert (same.code, same.json["ok"], same.json["same"]) == (0, True, True)


def test_a_pass_that_turned_to_fail_is_lost(wirewright: Wirewright, runner: StandInRunner, tmp_path: Path) -> None:
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    runner.results = [ran("one"), ran("one"), ran("two words")]
    wirewright("eval", "run", "--scenario", "echo-wired", "--scores", before)
    runner.results = [ran("wrong")]
    gate = tmp_path / "gate.yaml"
    gate.write_text("mode: exact\nbaseline: before.jsonl\n", encoding="utf-8")
    done = wirewright("eval", "run", "--scenario", "echo-wired", "--scores", after, "--gate", gate)
    assert done.code == 1
    assert "gate: echo-wired passed before" in done.out
    lost = wirewright("eval", "compare", before, after, "--json")
    assert (lost.code, [turned["scenario"] for turned in lost.json["lost"]]) == (1, ["echo-wired"])
    assert "lost    echo-wired" in wirewright("eval", "compare", before, after).out
    assert wirewright("eval", "compare", after, before).code == 0


def test_a_flow_that_does_not_build_is_named_with_its_scenario(
    wirewright: Wirewright, runner: StandInRunner, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    sound = 'id: {id}\nabout: A test.\nturns: [{say: hi}]\nreference: "nodes:\\n  a: ChatInput\\n"\n'
    (folder / "good.yaml").write_text(sound.replace("{id}", "good"), encoding="utf-8")
    assert wirewright("eval", "--scenarios", folder, "list", "--check", "--json").json["faults"] == []
    broken = (
        sound.replace("{id}", "bad") + 'alternatives: ["nodes:\\n  a: ChatInput\\n", "nodes:\\n  a: NoSuchType\\n"]\n'
    )
    (folder / "bad.yaml").write_text(broken, encoding="utf-8")
    done = wirewright("eval", "--scenarios", folder, "list", "--check")
    assert done.code == 1
    assert "bad: alternative 2 does not build: " in done.out
    (fault,) = wirewright("eval", "--scenarios", folder, "list", "--check", "--json").json["faults"]
    assert (fault["scenario"], fault["place"]) == ("bad", "alternative 2")
    assert "NoSuchType" in fault["message"]
    assert "faults" not in wirewright("eval", "--scenarios", folder, "list", "--json").json


def test_the_scenarios_are_listed_and_shown(wirewright: Wirewright, runner: StandInRunner, tmp_path: Path) -> None:
    listed = wirewright("eval", "list", "--json").json["scenarios"]
    assert [entry["id"] for entry in listed] == [scenario.id for scenario in load_scenarios()]
    assert "echo-wired" in wirewright("eval", "list", "--tag", "script").out
    journal = tmp_path / "attempts.jsonl"
    wirewright("eval", "run", "--scenario", "echo-wired", "--out", journal)
    shown = wirewright("eval", "show", "echo-wired", "--in", journal)
    assert shown.code == 0
    assert "build_flow" in shown.out
    assert "demo #1: failed, because of resolved" in shown.out
    decides, grades = shown.out.split("Grades, which decide nothing:")
    assert "    resolved   no    probe 1 ('one') gave 'hello', expected equals 'one'" in decides
    assert "    behaves    " in decides
    assert re.search(r"^ {4}values +\S+ ", grades, re.MULTILINE)
    assert '{"' not in shown.out, "no raw JSON"
    document = wirewright("eval", "show", "echo-wired", "--in", journal, "--json").json
    assert document["scenario"]["id"] == "echo-wired"
    assert document["played"][0]["verdict"]["passed"] is False


@pytest.mark.parametrize(
    ("arguments", "code", "where"),
    [
        (["run", "--scenario", "ecco"], "unknown_scenario", "--scenario"),
        (["run", "--tag", "nothing"], "no_scenario", "--tag"),
        (["run", "--scenario", "echo", "--tag", "edit"], "no_scenario", "--tag"),
        (["run", "--split", "train"], "bad_split", "--split"),
        (["run", "--out", "missing/a.jsonl"], "unwritable", "--out"),
        (["run", "--resume"], "nothing_to_resume", "--resume"),
        (["run", "--shard", "3/2"], "bad_shard", "--shard"),
        (["run", "--player", "nobody"], "unknown_player", "--player"),
        (["run", "--player", "openai:gpt-6.1-sol"], "unknown_player", "--player"),
        (["run", "--player", "replay:none.jsonl"], "unknown_player", "--player"),
        (["run", "--player", "python:nowhere:nothing"], "unknown_player", "--player"),
        (["run", "--gate", "none.yaml"], "bad_gate", "--gate"),
        (["score", "none.jsonl"], "unreadable", "none.jsonl"),
        (["show", "ecco"], "unknown_scenario", "--scenario"),
    ],
)
def test_a_choice_that_cannot_be_played_is_bad_usage(
    arguments: list[str], code: str, where: str, wirewright: Wirewright, runner: StandInRunner
) -> None:
    done = wirewright("eval", *arguments, "--json")
    assert done.code == 2
    assert (done.json["error"]["code"], done.json["error"]["where"]) == (code, where)
    assert done.json["error"]["fix"]


@pytest.mark.engine
def test_an_unavailable_engine_is_a_failure(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch, excerpt: Path
) -> None:
    from runtime.install.environment import RunnerEnvironment
    from runtime.install.errors import InstallError

    async def refused(*_: object, **__: object) -> None:
        raise InstallError("The disk is full.", "Free some space.")

    monkeypatch.setattr(RunnerEnvironment, "install", refused)
    done = wirewright("eval", "run", "--json")
    assert done.code == 1
    assert done.json["error"]["code"] == "engine_unavailable"


def test_a_ceiling_stops_the_play_and_says_so(
    wirewright: Wirewright, runner: StandInRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "attempts.jsonl"
    arguments = ("eval", "run", "--scenario", "echo", "--scenario", "echo-wired", "--out", journal)
    cut = wirewright(*arguments, "--max-cost", "0", "--json")
    assert (cut.code, cut.json["ok"], cut.json["not_played"], cut.json["attempts"]) == (1, False, 2, [])
    assert "2 attempts were not played" in wirewright(*arguments, "--max-cost", "0").out
    whole = wirewright(*arguments, "--resume", "--max-cost", "1", "--json")
    assert (whole.json["not_played"], len(whole.json["attempts"]), whole.json["cost"]) == (0, 2, None)


def test_a_ceiling_needs_a_price(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    refused = wirewright("eval", "run", "--player", "openai:gpt-nonesuch", "--max-cost", "1", "--json")
    assert (refused.code, refused.json["error"]["code"], refused.json["error"]["where"]) == (
        2,
        "unknown_price",
        "--max-cost",
    )


def test_two_plays_are_tested_and_a_sampled_model_may_lose_by_chance(
    wirewright: Wirewright, runner: StandInRunner, tmp_path: Path
) -> None:
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    runner.results = [ran("one"), ran("one"), ran("two words")]
    wirewright("eval", "run", "--scenario", "echo-wired", "--scores", before)
    runner.results = [ran("wrong")]
    wirewright("eval", "run", "--scenario", "echo-wired", "--repeats", "2", "--scores", after)
    strict = wirewright("eval", "compare", before, after, "--metric", "passed", "--json")
    (tested,) = strict.json["significance"]["tested"]
    assert (strict.code, tested["metric"], tested["difference"], tested["p"]) == (1, "passed", -1.0, 1.0)
    assert {"low", "high", "adjusted", "smallest_effect", "scenarios"} <= set(tested)
    assert wirewright("eval", "compare", before, after, "--metric", "passed", "--statistical").code == 0
    said = wirewright("eval", "compare", before, after).out
    assert "test    passed 100.0% -> 0.0%, difference -100.0%" in said
    unknown = wirewright("eval", "compare", before, after, "--metric", "pased", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (2, "unknown_score")
    assert "'passed'" in unknown.json["error"]["fix"]


def test_repeats_are_shown_as_pass_at_k(wirewright: Wirewright, runner: StandInRunner) -> None:
    runner.results = [ran("one"), ran("one"), ran("two words")]
    done = wirewright("eval", "run", "--scenario", "echo-wired", "--repeats", "2", "--json")
    (two,) = done.json["repeated"]
    assert (two["k"], set(two)) == (2, {"k", "at_least_one", "every_one"})


@pytest.mark.parametrize(("more", "hint"), [((), True), (("--no-engine",), False)])
def test_a_player_that_never_runs_what_it_was_asked_to_learns_of_no_engine(
    more: tuple[str, ...],
    hint: bool,
    wirewright: Wirewright,
    runner: StandInRunner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    flow = (
        "from wirewright import Catalogue, build\n\n"
        "SPEC = 'name: Echo\\nnodes:\\n  a: ChatInput\\n  b: ChatOutput\\n"
        "edges:\\n  a.message -> b.input_value\\n'\n\n"
        "async def play(request):\n"
        "    return {'flow': build(SPEC, Catalogue.load()).flow.to_json(), 'text': 'I built it.'}\n"
    )
    (tmp_path / "engineless.py").write_text(flow, encoding="utf-8")
    done = wirewright("eval", "run", "--player", "python:engineless:play", "--scenario", "echo", *more)
    assert ("plays with --no-engine" in done.err) is hint
