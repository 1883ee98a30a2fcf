"""The facts shown beside an answer name what it may say was done and was not."""

import pytest

from agent.honesty.absences import absences
from agent.honesty.statement import statement
from agent.models.scripted import call
from agent.turn.record import TurnRecord
from flows.catalogue import Catalogue
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import play, scripted_assistant

ADDED = TurnRecord.model_validate({"changes": [{"kind": "added", "nodes": ["Prompt-1"]}]})


def test_an_act_that_the_answer_claims_and_nobody_did_is_named() -> None:
    answer = "I added the prompt. I also installed the Notion bundle and saved the rules in `rules.md`."
    found = absences(answer, ADDED)
    assert {"installed", "file"} <= set(found.acts)
    assert "added" not in found.acts
    assert "No file was written or deleted." in statement(ADDED, ("edit",), "en", answer=answer)
    assert "Es wurde nichts installiert." in statement(ADDED, ("edit",), "de", answer=answer)


def test_a_file_that_was_not_written_is_named_when_another_was() -> None:
    record = TurnRecord.model_validate({"files": [{"path": "notes.md", "change": "created"}]})
    answer = "- `notes.md` written\n- `todo.md` written"
    assert absences(answer, record).names == ("todo.md",)
    assert "Not written: todo.md." in statement(record, ("files",), "en", answer=answer)
    assert absences("I wrote `notes.md`.", record).names == ()


def test_a_number_greater_than_what_was_done_shows_how_many_were() -> None:
    record = TurnRecord.model_validate({"changes": [{"kind": "removed", "nodes": ["TextOutput-1"]}]})
    said = "I removed both text outputs."
    assert statement(record, ("edit",), "en", answer=said).startswith("Removed: TextOutput-1 (1 in all).")
    assert statement(record, ("edit",), "en", answer="I removed the text output.").startswith("Removed: TextOutput-1.")


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "Trial run (“hi”): it failed: No model is set."),
        ("de", "Probelauf (“hi”): fehlgeschlagen: No model is set."),
        ("fr", "Exécution d'essai (“hi”) : échec : No model is set."),
        ("es", "Ejecución de prueba (“hi”): falló: No model is set."),
        ("pt", "Execução de teste (“hi”): falhou: No model is set."),
        ("it", "Esecuzione di prova (“hi”): non riuscita: No model is set."),
        ("ja", "試運転 (“hi”):失敗しました:No model is set."),
        ("zh", "试运行 (“hi”)：失败：No model is set."),
    ],
)
def test_a_failed_trial_run_is_told_in_the_users_language_around_the_engines_words(language: str, line: str) -> None:
    run = {"by": "verification", "input": "hi", "error": "No model is set."}
    record = TurnRecord.model_validate({"runs": [run]})
    assert statement(record, ("edit",), language).splitlines()[0] == line


def test_an_offered_flow_is_said_not_to_be_on_the_canvas() -> None:
    record = TurnRecord.model_validate({"proposal": {"flow": "Quiz", "status": "offered"}, "waiting": True})
    assert statement(record, ("edit",), "en").startswith("Proposed, not on the canvas yet, waiting for you")


def test_an_answer_to_a_question_that_claims_an_act_stands_beside_the_facts() -> None:
    assert statement(TurnRecord(), (), "en", answer='I ran the flow with "hi".') == "Nothing was run."
    assert statement(TurnRecord(), (), "en", answer="The prompt feeds the model.") == ""


@pytest.mark.anyio
async def test_a_claim_that_causes_no_retry_is_still_contradicted_by_the_record(catalogue: Catalogue) -> None:
    add = call("add_component", 1, type="Prompt Template")
    said = "The prompt has been added; its temperature went down to 0.2."
    who, script = scripted_assistant(catalogue, "build_flow", add, said)
    result = await play(who, "Add a prompt template", flow_of(ECHO, catalogue))
    assert (result.text, script.replies, result.record.disagrees) == (said, [], False)
    assert "No setting or text was changed." in result.record.text
