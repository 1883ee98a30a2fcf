"""Labelled answers: read with their faults placed, hashed by what a judge sees, and counted by language and trap."""

from pathlib import Path

import pytest
import yaml

from evals.calibration.answers import (
    LANGUAGES,
    TRAPS,
    AnswersError,
    LabelledAnswer,
    composition_faults,
    digest,
    load_answers,
)

README = Path(__file__).parent.parent.parent.parent / "evals" / "calibration" / "README.md"
ROW = {
    "id": "en-001",
    "user": "How many?",
    "answer": "Four.",
    "statement": "The answer says four.",
    "label": True,
    "because": "It does.",
}


def answers(number: int, language: str = "en", trap: str | None = None) -> list[LabelledAnswer]:
    """As many answers in a language; every other one is true."""
    return [
        LabelledAnswer.model_validate(
            ROW | {"id": f"{language}-{count:03}", "answer": f"{count}", "label": count % 2 == 0, "trap": trap}
        )
        for count in range(number)
    ]


def test_the_answers_of_the_repository_can_be_read() -> None:
    found = load_answers()
    assert {row.language for row in found} <= set(LANGUAGES)
    assert {row.label for row in found} == {True, False}


@pytest.mark.parametrize(
    ("name", "content", "place", "message"),
    [
        ("en.yaml", [ROW | {"label": "yes"}], "en.yaml[0.label]", "valid boolean"),
        ("en.yaml", [ROW, ROW | {"trap": "mood", "id": "en-002"}], "en.yaml[1.trap]", "negation"),
        ("en.yaml", [ROW | {"id": "de-001"}], "en.yaml", "de-001 belongs into de.yaml"),
        ("en.yaml", [ROW, ROW | {"user": "What?"}], "en.yaml", "the id en-001 is given twice"),
        ("en.yaml", [ROW, ROW | {"id": "en-002"}], "en.yaml", "user, answer and statement of"),
        ("en.yaml", [ROW | {"answer": " "}], "en.yaml[0]", "should say something"),
        ("en.yaml", {"a": 1}, "en.yaml[]", "valid list"),
        ("it.yaml", [ROW], "it.yaml", "should be named after a language"),
    ],
)
def test_a_fault_is_reported_with_its_row(name: str, content: object, place: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(AnswersError, match=message) as caught:
        load_answers(tmp_path)
    assert caught.value.place == place


def test_what_is_no_yaml_and_an_empty_folder_are_faults(tmp_path: Path) -> None:
    with pytest.raises(AnswersError, match="holds no labelled answers"):
        load_answers(tmp_path)
    (tmp_path / "en.yaml").write_text("[", encoding="utf-8")
    with pytest.raises(AnswersError, match=r"en\.yaml line 1: is not YAML: .*node content"):
        load_answers(tmp_path)


def test_the_digest_changes_with_what_is_judged_and_with_nothing_else() -> None:
    rows = answers(3)
    assert digest(rows) == digest(rows[::-1])
    assert digest(rows) == digest([row.model_copy(update={"because": "Other.", "trap": "echo"}) for row in rows])
    for changed in ({"label": False}, {"answer": "Five."}, {"record": "A run."}, {"statement": "It says five."}):
        assert digest(rows) != digest([rows[0].model_copy(update=changed), *rows[1:]])


def test_a_composition_that_measures_too_little_is_reported() -> None:
    whole = [row for language in LANGUAGES for row in answers(60, language)]
    trapped = [row.model_copy(update={"trap": TRAPS[number // 2 % len(TRAPS)]}) for number, row in enumerate(whole)]
    assert composition_faults(trapped) == ()
    faults = "\n".join(composition_faults(answers(20, "de", "echo")))
    assert "there are 20 answers, not 400" in faults
    assert "en has 0 answers, not 50" in faults
    assert "the trap quote is set 0 times, not 10" in faults
    alike = "\n".join(composition_faults([row.model_copy(update={"label": True}) for row in trapped]))
    assert "100% of de are true" in alike
    assert "every answer with the trap echo is true" in alike
    assert "0 answers hold a trap" in "\n".join(composition_faults(whole))


def test_the_readme_explains_every_trap_and_key() -> None:
    told = README.read_text(encoding="utf-8")
    for name in (*TRAPS, *LabelledAnswer.model_fields):
        assert f"| `{name}` |" in told
