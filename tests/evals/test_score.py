"""Scoring: what each evaluator says of attempts that were made by hand, and how verdicts add up."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic_ai import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.usage import RunUsage

from agent.turn.result import TurnError, TurnResult
from evals.analysis.tally import read_verdicts, tally, write_verdicts
from evals.attempt import Attempt, Score
from evals.journal import open_journal, read_journal
from evals.report.summary import summary
from evals.scenario import Budget, Scenario
from evals.score import DECIDING, EVALUATORS, UnknownScenario, Verdict, score_attempt, score_attempts
from flows.catalogue import Catalogue
from runtime.results import RunError
from tests.evals.conftest import Played, right_probes, scenario_named, scenarios
from tests.shared.stand_ins import ran
from tools.effects import RunEffect

TEMPLATE = scenario_named("edit-template")
LOUDER = scenario_named("prompt-louder")
WEATHER = scenario_named("refuse-weather")
WHICH = scenario_named("ask-which")
QUESTION = scenario_named("question-value")


def say(scenario: Scenario, attempt: Attempt, catalogue: Catalogue) -> dict[str, bool | float | None]:
    """The value of every score."""
    return {entry.name: entry.value for entry in score_attempt(scenario, attempt, catalogue).scores}


def test_the_right_flow_with_the_right_runs_is_perfect(played: Played, catalogue: Catalogue) -> None:
    run = ran("Whisper: hello")
    attempt = played(TEMPLATE, TEMPLATE.reference, text="I changed the template and ran it.", runs=[run])
    values = say(TEMPLATE, attempt, catalogue)
    assert score_attempt(TEMPLATE, attempt, catalogue).passed is True
    assert {name for name, value in values.items() if value not in (None, True, 1.0)} == set()
    assert {"built", "valid", "ran", "resolved", "preserved", "honest", "edit_recall"} <= {
        name for name, value in values.items() if value is not None
    }


@pytest.mark.parametrize("where", ["run", "probe", "record"])
def test_a_verdict_says_that_own_code_took_part_in_a_run(
    where: str, played: Played, catalogue: Catalogue, tmp_path: Path
) -> None:
    own = replace(ran("Whisper: hello"), untrusted_code=True)
    runs, probes = [own if where == "run" else ran("Whisper: hello")], [own if where == "probe" else ran("x")]
    attempt = played(TEMPLATE, TEMPLATE.reference, text="I ran it.", runs=runs, probes=probes)
    if where == "record":
        attempt.turns[0].record.runs.append(RunEffect.of(own, by="verification", text="hi"))
    open_journal(tmp_path / "journal.jsonl").append(attempt)
    [read] = read_journal(tmp_path / "journal.jsonl")
    verdict = score_attempt(TEMPLATE, read, catalogue)
    assert verdict.untrusted_code
    write_verdicts(tmp_path / "scores.jsonl", [verdict])
    assert '"untrusted_code":true' in (tmp_path / "scores.jsonl").read_text()
    plain = played(TEMPLATE, TEMPLATE.reference, text="I ran it.", runs=[ran("x")], probes=[ran("x")])
    assert "untrusted_code" not in score_attempt(TEMPLATE, plain, catalogue).model_dump()


def test_a_canvas_left_as_it_was_built_nothing_and_preserved_nothing(played: Played, catalogue: Catalogue) -> None:
    values = say(TEMPLATE, played(TEMPLATE, None, probes=[ran("x")]), catalogue)
    assert values == snapshot(
        {
            "finished": True,
            "built": False,
            "valid": None,
            "ran": False,
            "resolved": False,
            "behaves": None,
            "preserved": None,
            "honest": None,
            "forbidden": None,
            "clarified": None,
            "nodes": 0.0,
            "edges": 0.0,
            "parameters": 0.0,
            "values": 0.0,
            "inputs": None,
            "invented": None,
            "edit_precision": None,
            "edit_recall": 0.0,
            "wasted": None,
            "language": None,
            "tokens": None,
        }
    )


def test_a_change_that_nobody_asked_for_is_not_preserved(played: Played, catalogue: Catalogue) -> None:
    touched = (TEMPLATE.reference or "").rstrip("\n") + "\n  chat.sender_name: Kim\n"
    values = say(TEMPLATE, played(TEMPLATE, touched), catalogue)
    assert values["preserved"] is False
    assert values["edit_recall"] == 1.0
    assert values["edit_precision"] == pytest.approx(2 / 3)


def test_another_value_where_one_had_to_change_is_inside_the_request(played: Played, catalogue: Catalogue) -> None:
    other = (TEMPLATE.reference or "").replace("Whisper:", "Murmur:")
    values = say(TEMPLATE, played(TEMPLATE, other), catalogue)
    assert values["preserved"] is True
    assert values["values"] == 0.0
    assert values["parameters"] == 1.0


def test_a_wrong_port_lowers_the_edges_and_leaves_the_nodes(played: Played, catalogue: Catalogue) -> None:
    scenario = scenario_named("combine-before")
    values = say(scenario, played(scenario, scenario.wrong[0].flow), catalogue)
    assert values["nodes"] == 1.0
    assert values["edges"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (["Whisper: bye"], True),
        (["whisper: bye"], False),
        ([None], False),
        ([], False),
    ],
)
def test_every_probe_must_give_what_is_expected(
    outputs: list[str | None], expected: bool, played: Played, catalogue: Catalogue
) -> None:
    attempt = played(TEMPLATE, TEMPLATE.reference, runs=[ran("Whisper: hello")], probes=[ran(o) for o in outputs])
    assert say(TEMPLATE, attempt, catalogue)["resolved"] is expected


def test_a_counterfactual_fails_when_the_output_does_not_depend_on_the_input(
    played: Played, catalogue: Catalogue
) -> None:
    echo = scenario_named("echo")
    same = [ran(probe.equals or "same") for probe in echo.probes] + [ran("same")]
    right = right_probes(echo)
    run = [ran("good morning")]
    assert say(echo, played(echo, echo.reference, runs=run, probes=same), catalogue)["resolved"] is False
    assert say(echo, played(echo, echo.reference, runs=run, probes=right), catalogue)["resolved"] is True


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [([], False), (["Whisper: hello"], True), (["x", "Whisper: hello"], True), (["Whisper: hello", "x"], False)],
    ids=["none", "right", "last right", "last wrong"],
)
def test_the_users_own_last_run_counts(
    outputs: list[str], expected: bool, played: Played, catalogue: Catalogue
) -> None:
    attempt = played(TEMPLATE, TEMPLATE.reference, runs=[ran(output) for output in outputs])
    assert say(TEMPLATE, attempt, catalogue)["ran"] is expected


def test_a_probe_or_a_run_that_fails_did_not_run(played: Played, catalogue: Catalogue) -> None:
    failed = ran(error=RunError(code="crash", message="it fell over"))
    good = [ran("Whisper: hello")]
    assert say(TEMPLATE, played(TEMPLATE, TEMPLATE.reference, runs=good, probes=[failed]), catalogue)["ran"] is False
    assert say(TEMPLATE, played(TEMPLATE, TEMPLATE.reference, runs=[failed]), catalogue)["ran"] is False


def test_a_turn_that_failed_did_not_finish(played: Played, catalogue: Catalogue) -> None:
    attempt = played(TEMPLATE, TEMPLATE.reference)
    failed = attempt.turns[0].model_copy(update={"outcome": "error", "error": TurnError(code="x", message="no model")})
    verdict = score_attempt(TEMPLATE, attempt.model_copy(update={"turns": [failed]}), catalogue)
    assert (verdict.passed, verdict.value("finished")) == (False, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("I can't help with the weather.", True), ("It will be sunny.", False), ("", False)],
)
def test_what_should_be_refused_must_be_declined(
    text: str, expected: bool, played: Played, catalogue: Catalogue
) -> None:
    assert say(WEATHER, played(WEATHER, None, text=text), catalogue)["resolved"] is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("Which of the two do you mean?", True), ("I changed the first.", False), ("", False)]
)
def test_what_is_open_must_be_asked(text: str, expected: bool, played: Played, catalogue: Catalogue) -> None:
    values = say(WHICH, played(WHICH, None, text=text), catalogue)
    assert (values["clarified"], values["resolved"]) == (expected, expected)


def test_acting_where_a_question_was_right_is_forbidden(played: Played, catalogue: Catalogue) -> None:
    guessed = played(WHICH, WHICH.wrong[0].flow, text="Which one? I took the first.")
    values = say(WHICH, guessed, catalogue)
    assert (values["forbidden"], values["clarified"], values["preserved"], values["resolved"]) == (False,) * 4


def test_an_answer_must_hold_what_is_so(played: Played, catalogue: Catalogue) -> None:
    right, wrong = r"It is [A-Z]{2}-\d{4}.", "It is [a-z]."
    assert say(QUESTION, played(QUESTION, None, text=right), catalogue)["resolved"] is True
    assert say(QUESTION, played(QUESTION, None, text=wrong), catalogue)["resolved"] is False


def called(attempt: Attempt, *calls: tuple[str, dict[str, object], bool]) -> Attempt:
    """The attempt with tool calls in its turn: tool, arguments, whether it was accepted."""
    messages: list[ModelRequest | ModelResponse] = []
    for number, (tool, arguments, taken) in enumerate(calls):
        part = ToolCallPart(tool, arguments, tool_call_id=str(number))
        back = (
            ToolReturnPart(tool, "done", tool_call_id=str(number))
            if taken
            else ToolReturnPart(tool, "no", tool_call_id=str(number), outcome="retried")
        )
        messages += [ModelResponse(parts=[part]), ModelRequest(parts=[back])]
    turn: TurnResult = attempt.turns[0].model_copy(update={"messages": messages})
    return attempt.model_copy(update={"turns": [turn]})


def test_refused_and_repeated_calls_are_wasted(played: Played, catalogue: Catalogue) -> None:
    attempt = called(
        played(LOUDER, LOUDER.reference),
        ("search_components", {"query": "a"}, True),
        ("search_components", {"query": "a"}, True),
        ("build_flow", {"spec": LOUDER.reference}, False),
        ("run_flow", {"input": "a"}, True),
    )
    assert say(LOUDER, attempt, catalogue)["wasted"] == pytest.approx(0.5)


def test_the_same_run_after_a_change_is_not_wasted(played: Played, catalogue: Catalogue) -> None:
    run, change = ("run_flow", {"input": "a"}, True), ("configure_component", {"values": {}}, True)
    assert say(LOUDER, called(played(LOUDER, LOUDER.reference), run, change, run), catalogue)["wasted"] == 1.0


@pytest.mark.parametrize(
    "call",
    [
        ("add_component", {"type": "MagicBox"}, False),
        ("build_flow", {"spec": "nodes:\n  a: MagicBox\n"}, False),
        ("edit_flow", {"changes": "nodes:\n  a: MagicBox\n"}, False),
    ],
)
def test_a_type_that_does_not_exist_is_invented(
    call: tuple[str, dict[str, object], bool], played: Played, catalogue: Catalogue
) -> None:
    assert say(LOUDER, called(played(LOUDER, LOUDER.reference), call), catalogue)["invented"] is False
    for known in (
        ("add_component", {"type": "ChatInput"}, True),
        ("edit_flow", {"changes": "nodes:\n  a: Chat Input\n"}, True),
        ("edit_flow", {"changes": "config:\n  nobody.template: hi\n"}, False),
    ):
        assert say(LOUDER, called(played(LOUDER, LOUDER.reference), known), catalogue)["invented"] is True


def test_a_forbidden_tool_is_seen(played: Played, catalogue: Catalogue) -> None:
    only = scenario_named("build-only")
    build = ("build_flow", {"spec": only.reference}, True)
    ran_it = called(played(only, only.reference), build, ("run_flow", {"input": "x"}, True))
    assert say(only, ran_it, catalogue)["forbidden"] is False
    assert say(only, called(played(only, only.reference), build), catalogue)["forbidden"] is True
    assert say(only, played(only, only.reference), catalogue)["forbidden"] is None


def test_a_budget_counts_what_the_player_took_and_not_the_flow(played: Played, catalogue: Catalogue) -> None:
    tight = LOUDER.model_copy(update={"budget": Budget(tokens=100, calls=1)})
    attempt = played(tight, LOUDER.reference)
    usage = {
        "main": RunUsage(input_tokens=60),
        "intent": RunUsage(output_tokens=30),
        "flow": RunUsage(input_tokens=900),
    }
    within = attempt.model_copy(update={"turns": [attempt.turns[0].model_copy(update={"usage": usage})]})
    over = called(within, ("run_flow", {}, True), ("run_flow", {"input": "b"}, True))
    assert say(tight, attempt, catalogue)["tokens"] is None
    assert say(tight, within, catalogue)["tokens"] is True
    assert say(tight, over, catalogue)["tokens"] is False


def test_an_answer_in_another_language_is_noticed(played: Played, catalogue: Catalogue) -> None:
    german = scenario_named("german-echo")
    for text, expected in (
        ("Ich habe den Flow gebaut und er ist jetzt für dich da.", True),
        ("I built the flow that you asked for and ran it.", False),
        ("OK", None),
    ):
        assert say(german, played(german, german.reference, text=text), catalogue)["language"] is expected


def test_a_harness_error_is_not_scored_and_never_a_pass(played: Played, catalogue: Catalogue) -> None:
    good = played(TEMPLATE, TEMPLATE.reference, text="Done.", runs=[ran("Whisper: hello")])
    broken = good.model_copy(update={"harness_error": "the harness fell over", "repeat": 1})
    result = tally(score_attempts([TEMPLATE], [broken, good], catalogue))
    assert [verdict.passed for verdict in result.verdicts] == [True, None]
    assert set(say(TEMPLATE, broken, catalogue).values()) == {None}
    assert (result.passed, result.scored, result.harness_errors, result.pass_rate) == (1, 1, 1, 1.0)
    assert not result.meets(0.0)


def test_an_attempt_at_another_scenario_is_not_scored(played: Played, catalogue: Catalogue) -> None:
    attempt = played(TEMPLATE, None)
    with pytest.raises(UnknownScenario):
        score_attempts([LOUDER], [attempt], catalogue)
    with pytest.raises(UnknownScenario):
        score_attempts([TEMPLATE.model_copy(update={"about": "changed"})], [attempt], catalogue)


def test_nothing_scored_meets_no_bar(catalogue: Catalogue) -> None:
    assert tally([]).pass_rate is None
    assert not tally([]).meets(0.0)


def test_rescoring_a_journal_line_gives_the_same(played: Played, catalogue: Catalogue) -> None:
    attempt = played(TEMPLATE, TEMPLATE.reference, text="I changed it.", runs=[ran("Whisper: hello")])
    again = Attempt.model_validate_json(attempt.model_dump_json())
    assert score_attempt(TEMPLATE, again, catalogue) == score_attempt(TEMPLATE, attempt, catalogue)


def test_verdicts_survive_their_file_and_a_baseline_has_no_measurements(
    played: Played, catalogue: Catalogue, tmp_path: object
) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "scores.jsonl"
    verdicts = score_attempts([TEMPLATE], [played(TEMPLATE, TEMPLATE.reference, seconds=1.5)], catalogue)
    write_verdicts(path, verdicts)
    assert list(read_verdicts(path)) == verdicts
    write_verdicts(path, verdicts, measured=False)
    (bare,) = read_verdicts(path)
    assert bare.measured.seconds == 0.0
    assert [entry.value for entry in bare.scores] == [entry.value for entry in verdicts[0].scores]


def test_every_score_has_an_evaluator_of_its_name(played: Played, catalogue: Catalogue) -> None:
    scores = score_attempt(TEMPLATE, played(TEMPLATE, None), catalogue).scores
    assert [entry.name for entry in scores] == list(EVALUATORS)
    assert EVALUATORS.keys() >= DECIDING


verdicts = st.lists(
    st.builds(
        lambda passed, error, marks: Verdict(
            scenario="s",
            passed=passed,
            scores=tuple(Score(name=name, value=mark, reason="") for name, mark in zip(EVALUATORS, marks, strict=True)),
            harness_error=error,
        ),
        st.none() | st.booleans(),
        st.none() | st.just("broken"),
        st.tuples(*[st.none() | st.booleans() | st.floats(0, 1) for _ in EVALUATORS]),
    ),
    max_size=6,
)


@settings(max_examples=50)
@given(verdicts, st.integers(0, 99))
def test_the_order_of_attempts_changes_no_figure(found: list[Verdict], seed: int) -> None:
    shuffled = Random(seed).sample(found, len(found))  # noqa: S311  (a seed of a test)
    one, other = tally(found), tally(shuffled)
    assert one.model_copy(update={"verdicts": ()}) == other.model_copy(update={"verdicts": ()})


@settings(max_examples=50)
@given(verdicts, st.floats(0, 1), st.floats(0, 1))
def test_a_lower_bar_is_never_harder_to_meet(found: list[Verdict], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert tally(found).meets(low) or not tally(found).meets(high)


def test_what_only_words_could_decide_is_undecided(played: Played, catalogue: Catalogue) -> None:
    turn = QUESTION.turns[0].model_copy(update={"facts": (), "statements": ("The answer is friendly.",)})
    scenario = QUESTION.model_copy(update={"turns": (turn,)})
    verdict = score_attempt(scenario, played(scenario, None, text="Gladly: it is `[A-Z]{2}-\\d{4}`."), catalogue)
    assert (verdict.passed, verdict.undecided, verdict.value("resolved")) == (None, "The answer is friendly.", True)
    assert verdict.why == "undecided: The answer is friendly."
    assert tally([verdict]).scored == 0
    assert summary(tally([verdict]), 0.0) == "passed 0 of 1, 1 undecided: only words could decide (- of those judged)"
    lied = score_attempt(scenario, played(scenario, None, text="I deleted the pattern."), catalogue)
    assert (lied.passed, lied.undecided) == (False, "")


def test_at_least_95_percent_of_the_scenarios_are_decided_without_words() -> None:
    by_words = [one.id for one in scenarios() if not all(turn.by_structure for turn in one.turns)]
    assert len(by_words) <= 0.05 * len(scenarios()), by_words
