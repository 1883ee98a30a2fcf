"""Chat2Workflow's format: every round becomes an open scenario, and nothing is dropped without a word."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.case import Case
from evals.evaluators.resolved import resolved
from evals.imports.chat2workflow.format import ImportFormatError, read_checks, read_queries
from evals.imports.chat2workflow.scenarios import Imported, convert_tasks, node_kinds, slug
from evals.imports.writer import write
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.play.flow_models import NO_ANSWER
from evals.players.demo import DemoPlayer
from evals.players.oracle.player import OraclePlayer
from evals.scenarios.loader import load_scenarios
from evals.score import COMPARING, score_attempt
from flows.catalogue import Catalogue
from tests.evals.conftest import Played
from tests.shared.stand_ins import ran

DATA = Path(__file__).parent / "data"
MANUAL = Path(__file__).parent.parent.parent.parent / "docs" / "evaluations.md"


def imported(files: Path | None = DATA / "files") -> tuple[dict[str, Imported], list[str]]:
    """The fixture's scenarios by id, and what is left."""
    made, left = convert_tasks(
        read_queries(DATA / "query.json"), read_checks(DATA / "checks.json", DATA / "endings.json"), files
    )
    return {one.scenario.id: one for one in made}, left


def test_every_round_is_a_scenario_with_the_rounds_before_it() -> None:
    made, left = imported()
    assert list(made) == ["recipe-card-1", "recipe-card-2", "leftovers-pdf-1", "bird-song-1", "plant-care-1"]
    second = made["recipe-card-2"].scenario
    assert second.turns[0].say == made["recipe-card-1"].scenario.turns[0].say
    assert (second.open, second.reference, len(second.turns)) == (True, None, 2)
    assert second.tags == ("imported", "chat2workflow", "kitchen")
    assert left == ["BirdSong_2: no query has this round"]


def test_node_kinds_become_expectations_of_any_type_that_does_the_same() -> None:
    made, _ = imported()
    expected = made["recipe-card-2"].scenario.expect.one_of
    named = ["LanguageModelComponent", "ConditionalRouter", "SaveToFile"]
    assert [types[0] for types in expected] == [*named, "ChatInput", "ChatOutput"]
    assert any("markdown-exporter is any of SaveToFile" in note for note in made["recipe-card-2"].notes)


def test_what_has_no_equivalent_is_reported_in_the_scenario_and_in_the_notes() -> None:
    made, _ = imported()
    bird = made["bird-song-1"]
    assert bird.scenario.about.endswith("Without an equivalent here: teleporter.")
    notes = "\n".join(bird.notes)
    assert "tts is any of APIRequest, URLComponent: no component generates speech" in notes
    assert "teleporter is not known" in notes
    assert "remark means nothing here" in notes


def test_a_test_becomes_a_probe_that_expects_its_input_in_a_model_s_answer() -> None:
    made, _ = imported()
    recipes = made["recipe-card-1"].scenario
    assert [probe.input for probe in recipes.probes] == ["pancakes", "tomato soup", "pancakes"]
    assert recipes.probes[1].met_by("Done. ‹01ab: tomato soup›")
    for wrong in ("tomato soup", "Done. ‹01ab: pancakes›", "Done. ‹01ab: ›", NO_ANSWER):
        assert not recipes.probes[1].met_by(wrong)


def test_a_file_that_is_wanted_must_be_written_with_what_a_model_answered() -> None:
    made, _ = imported()
    probe = made["recipe-card-2"].scenario.probes[1]
    assert list(probe.writes) == ["card.markdown"]
    assert probe.writes["card.markdown"].met_by("‹01ab: two› and ‹02cd: tomato soup›")
    assert not probe.writes["card.markdown"].met_by("‹01ab: tomato soup›")
    assert "Write card as a file called card; as markdown." in made["recipe-card-2"].scenario.turns[-1].say


def test_what_a_service_makes_is_asked_for_with_what_a_model_wrote() -> None:
    bird = imported()[0]["bird-song-1"].scenario
    (studio,) = bird.services
    assert [(route.path, route.method) for route in studio.routes] == [("/sound", "GET"), ("/sound", "POST")]
    assert re.search(studio.routes[0].asked or "", "prompt=‹01ab: a robin›")
    assert not re.search(studio.routes[0].asked or "", "prompt=a robin")
    assert bird.probes[0].contains == "https://studio.example/sound-test1.wav"
    assert "GET {{service:studio}}/sound?prompt=…" in bird.turns[-1].say


def test_several_inputs_are_typed_as_lines_and_the_user_says_so() -> None:
    made, _ = imported()
    two = made["recipe-card-2"]
    assert two.scenario.probes[0].input == "dish: pancakes\npeople: 4"
    assert "a line each: 'dish: …', 'people: …'" in two.scenario.turns[-1].say
    assert "a line each" not in two.scenario.turns[0].say
    assert any("several inputs are typed as one message" in note for note in two.notes)


def test_what_only_a_judge_can_tell_becomes_criteria() -> None:
    made, _ = imported()
    assert made["recipe-card-1"].scenario.criteria == (
        "The flow gives these results: recipe.",
        "Given dish = pancakes, this would be right: Something with flour, milk and eggs.",
    )
    assert "The result card is a .md file." in made["recipe-card-2"].scenario.criteria


def test_branches_that_give_different_results_are_reported_as_such() -> None:
    made, _ = imported()
    plant = made["plant-care-1"].scenario
    assert plant.criteria[0] == "Depending on its branch, the flow gives one of these: advice; or advice, sheet."
    expected = [types[0] for types in plant.expect.one_of]
    named = ["LanguageModelComponent", "ConditionalRouter", "Prompt Template", "ChatInput", "ChatOutput"]
    assert expected == named, "each kind once"


def test_an_input_that_is_left_empty_is_an_empty_line_or_an_empty_file() -> None:
    probes = imported()[0]["plant-care-1"].scenario.probes
    assert [probe.input for probe in probes] == [
        "plant: 月下美人，夜に咲く花\nlanguage: English",
        "plant: \nlanguage: Deutsch",
        "plant: ivy\nlanguage: Français",
    ]
    assert [probe.files["notes.txt"].partition("\n")[0] for probe in probes] == ["", "eggs", ""]


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "query.json"
    path.write_text(json.dumps([TASK]), encoding="utf-8-sig")
    assert read_queries(path)[0].name == "T"


def test_a_file_is_carried_where_it_is_text_and_another_text_stands_in_for_any_other() -> None:
    made, _ = imported()
    fridge = made["leftovers-pdf-1"]
    first, second = fridge.scenario.probes
    assert sorted(first.files) == ["fridge/1.txt", "fridge/2.txt"]
    assert first.files["fridge/1.txt"].startswith("eggs\nhalf a cabbage\n\n\nReference: subject-")
    assert "stands in for scan.pdf" in first.files["fridge/2.txt"]
    assert list(second.files) == ["fridge/1.txt"]
    assert fridge.scenario.files == first.files, "the assistant sees what stands there at first"
    assert "gone.txt (document/txt) is replaced by a text that stands in for its content" in fridge.notes
    assert "The files of fridge are in the folder fridge in my files" in fridge.scenario.turns[-1].say
    without = imported(None)[0]["leftovers-pdf-1"].scenario.probes[0]
    assert "stands in for fridge.txt" in without.files["fridge/1.txt"]
    marks = {text.split("subject-")[1][:6] for text in first.files.values()}
    assert len(marks) == 2
    assert all(rule.regex and any(mark in rule.regex for mark in marks) for rule in (first, *first.also))


def test_a_round_without_checks_is_reported() -> None:
    made, _ = convert_tasks(read_queries(DATA / "query.json"), {})
    assert all("there are no checks of this round" in one.notes[0] for one in made)


def test_what_is_written_is_read_again_as_it_was_meant(tmp_path: Path) -> None:
    made, _ = imported()
    write(tmp_path / "out", list(made.values()))
    there = {scenario.id: scenario for scenario in load_scenarios(tmp_path / "out")}
    assert there == {name: one.scenario for name, one in made.items()}
    with pytest.raises(ImportFormatError, match="is not empty"):
        write(tmp_path / "out", list(made.values()))


def test_two_rounds_of_one_name_are_refused(tmp_path: Path) -> None:
    made, _ = imported()
    with pytest.raises(ImportFormatError, match="two rounds have this name"):
        write(tmp_path / "out", [made["bird-song-1"], made["bird-song-1"]])


@pytest.mark.parametrize(
    ("name", "id"),
    [("LogoSVG", "logo-svg"), ("HTML", "html"), ("PaperQA", "paper-qa"), ("Mermaid", "mermaid"), ("论文", "task")],
)
def test_a_task_s_name_becomes_an_id(name: str, id: str) -> None:
    assert slug(name) == id


@given(st.text())
def test_every_name_becomes_an_id(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(name))


TASK = {"id": 1, "category": "c", "task": "T", "query1": "Do it."}
CHECK = {"input_var": ["a"], "output_var": ["b"], "related_nodes": ["llm"], "test1": {"a": "x"}}


@pytest.mark.parametrize(
    ("queries", "checks", "place"),
    [
        ("{", {}, "query.json line 1"),
        ('{"a": 1, "a": 2}', {}, "query.json"),
        ({}, {}, "query.json"),
        (["x"], {}, "query.json[0]"),
        ([TASK, TASK], {}, "query.json"),
        ([TASK | {"task": 3}], {}, "query.json[0].task"),
        ([TASK | {"query1": " "}], {}, "query.json[0].query1"),
        ([TASK | {"query3": "x"}], {}, "query.json[0]"),
        ([TASK | {"mood": "x"}], {}, "query.json[0].mood"),
        ([TASK | {"query01": "x"}], {}, "query.json[0].query01"),
        ([TASK | {"query\u0662": "x"}], {}, "query.json[0].query\u0662"),
        ([TASK], [], "checks.json"),
        ([TASK], {"T_1": 3}, "checks.json.T_1"),
        ([TASK], {"T_1": CHECK | {"input_var": "a"}}, "checks.json.T_1.input_var"),
        ([TASK], {"T_1": CHECK | {"output_var": [["a"], "b"]}}, "checks.json.T_1.output_var[1]"),
        ([TASK], {"T_1": CHECK | {"output_var": [["a", 3]]}}, "checks.json.T_1.output_var[0][1]"),
        ([TASK], {"T_1": CHECK | {"related_nodes": [3]}}, "checks.json.T_1.related_nodes[0]"),
        ([TASK], {"T_1": CHECK | {"test1": {"z": "x"}}}, "checks.json.T_1.test1.z"),
        ([TASK], {"T_1": CHECK | {"test1": {"a": None}}}, "checks.json.T_1.test1.a"),
        ([TASK], {"T_1": CHECK | {"test1": {"a": {"value": "x"}}}}, "checks.json.T_1.test1.a"),
        (
            [TASK],
            {"T_1": CHECK | {"test1": {"a": [{"mime_type": "t", "value": "../../etc/passwd"}]}}},
            "checks.json.T_1.test1.a[0].value",
        ),
        ([TASK], {"T_1": CHECK | {"test1": {"ground_truth": []}}}, "checks.json.T_1.test1.ground_truth"),
    ],
)
def test_a_fault_is_reported_with_its_place(queries: object, checks: object, place: str, tmp_path: Path) -> None:
    first, second = tmp_path / "query.json", tmp_path / "checks.json"
    first.write_text(queries if isinstance(queries, str) else json.dumps(queries), encoding="utf-8")
    second.write_text(json.dumps(checks), encoding="utf-8")
    with pytest.raises(ImportFormatError) as caught:
        convert_tasks(read_queries(first), read_checks(second))
    assert caught.value.place == place
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "place"),
    [('{"Nobody_1": {"a": ".md"}}', "endings.json.Nobody_1"), ('{"T_1": {"a": 1}}', "endings.json.T_1.a")],
)
def test_a_wrong_file_of_endings_is_reported(content: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "checks.json").write_text(json.dumps({"T_1": CHECK}), encoding="utf-8")
    (tmp_path / "endings.json").write_text(content, encoding="utf-8")
    with pytest.raises(ImportFormatError) as caught:
        read_checks(tmp_path / "checks.json", tmp_path / "endings.json")
    assert caught.value.place == place


def test_a_file_that_is_not_there_or_no_text_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "bytes.json").write_bytes(b"\xff")
    for name, reason in {"missing.json": "does not exist", "bytes.json": "is not UTF-8 text"}.items():
        with pytest.raises(ImportFormatError, match=reason):
            read_queries(tmp_path / name)


CHAT = "nodes:\n  a: ChatInput\n  m: LanguageModelComponent\n  b: ChatOutput\n"
CHAT += "edges:\n  a.message -> m.input_value\n  m.text_output -> b.input_value\n"
CHAT += 'config:\n  m.model: [{"provider": "OpenAI", "name": "gpt-4o-mini"}]\n'


def test_an_open_scenario_is_judged_by_what_it_expects(played: Played, catalogue: Catalogue) -> None:
    scenario = imported()[0]["recipe-card-1"].scenario
    probes = [ran(f"Done. ‹01ab: {text}›") for text in ("pancakes", "tomato soup", "pancakes")]
    good = score_attempt(scenario, played(scenario, CHAT, text="I built the flow.", probes=probes), catalogue)
    assert (good.passed, good.value("resolved"), good.value("built")) == (True, True, True)
    assert all(good.value(name) is None for name in COMPARING)
    same = played(scenario, CHAT, text="I built the flow.", probes=probes[:1] * 3)
    assert score_attempt(scenario, same, catalogue).passed is False
    without = CHAT.partition("config:")[0].replace("LanguageModelComponent", "TextInput").replace("text_output", "text")
    other = played(scenario, without, probes=probes)
    value, reason = resolved(Case.of(scenario, other, catalogue))
    assert value is False
    assert reason.startswith("there should be one of LanguageModelComponent, Agent")
    nothing = score_attempt(scenario, played(scenario, None, text="I built it.", probes=[]), catalogue)
    assert (nothing.value("built"), nothing.passed) == (False, False)


@pytest.mark.anyio
async def test_the_oracle_has_no_right_flow_and_says_so_and_others_play(environment: PlayEnvironment) -> None:
    scenario = imported()[0]["recipe-card-1"].scenario
    refused = await play_attempt(scenario, OraclePlayer(), environment)
    assert refused.harness_error is not None
    assert "no reference flow is known" in refused.harness_error
    assert (await play_attempt(scenario, DemoPlayer(), environment)).harness_error is None


def test_the_manual_s_table_is_the_data() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.*?) \| (.*?) \|$", MANUAL.read_text(encoding="utf-8"), re.MULTILINE)
    told = {name: (types, because) for name, types, because in rows}
    for name, kind in node_kinds().items():
        types = ", ".join(f"`{one}`" for one in kind.types) or "none"
        assert told[name] == (types, kind.because.rstrip(".")), name


@pytest.mark.engine
def test_every_type_that_a_kind_may_be_is_in_the_catalogue(full_catalogue: Catalogue) -> None:
    for kind in node_kinds().values():
        for name in kind.types:
            assert full_catalogue.get(name) is not None
