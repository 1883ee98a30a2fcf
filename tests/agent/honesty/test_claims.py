"""Answers compared with the record: one more try where they differ, and the record above the answer that still does."""

import pytest
from inline_snapshot import snapshot

from agent.honesty.claims import NOTHING_CHANGED, Evidence, differences
from agent.honesty.statement import statement
from agent.language.phrases import languages, phrase
from agent.models.scripted import call
from agent.turn.record import Asked, TurnRecord
from flows.catalogue import Catalogue
from runtime.results import RunError
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import play, play_all, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran
from tools.events import Progress

ADD = call("add_component", 1, type="Prompt Template")
LOOK = call("search_components", 1, query="prompt")
RUN = call("run_flow", 1, input="hi")


def compared(answer: str, *asked: Asked, language: str | None = None, known: str = "", **record: object) -> list[str]:
    evidence = Evidence(record=TurnRecord.model_validate(record), asked=asked, language=language, known=[known])
    return list(differences(answer, evidence))


@pytest.mark.parametrize(
    "answer",
    [
        "I could not build it: there is no component for payments.",
        "I changed nothing, because the prompt says that already.",
        "Which of the two prompts do you mean?",
        "Tell me the address and I will go on.",
        "It was already connected to the model, so there was nothing to do.",
        "Ich habe nichts geändert.",
        "Je n'ai rien modifié, il me faut le nom du fichier.",
        "No he cambiado nada.",
        "Não alterei nada, pois falta a chave.",
        "Non ho toccato niente.",
        "何も変更していません。",
        "没有更改任何内容，请告诉我用哪个模型。",
        "Ik heb niets veranderd: welk model bedoel je?",
    ],
)
def test_a_true_decline_or_a_question_back_differs_in_nothing(answer: str) -> None:
    assert compared(answer, "edit") == []
    assert compared(answer, "edit", "run") == []


@pytest.mark.parametrize(
    "answer",
    [
        "Done!",
        "I made the component.",
        "The calculator has been added.",
        "Der Baustein wurde hinzugefügt.",
        "C'est fait, le composant a été créé.",
        "Listo, agregué el componente.",
        "Pronto, adicionei o componente.",
        "Fatto, ho aggiunto il componente.",
        "追加しました。",
        "已添加。",
        "Gotowe.",
    ],
)
def test_an_answer_that_claims_work_without_any_is_idle_in_every_language(answer: str) -> None:
    assert "idle" in compared(answer, "edit")


def test_a_run_that_was_asked_for_and_did_not_happen_is_noticed() -> None:
    added = [{"kind": "added", "nodes": ["Prompt-1"]}]
    assert compared("Added the prompt.", "edit", "run", changes=added) == ["not_run"]
    assert compared("Added the prompt; I did not run it.", "edit", "run", changes=added) == []


def test_a_failed_run_that_goes_unmentioned_is_noticed() -> None:
    run = {"by": "user", "input": "hi", "error": "401 Unauthorized: invalid API key"}
    assert compared("It works without errors.", "run", runs=[run]) == ["failed_run"]
    assert compared("Gotowe, 401 Unauthorized: invalid API key.", "run", runs=[run]) == []
    assert compared("Der Lauf ist fehlgeschlagen.", "run", runs=[run], language="de") == []


def test_a_quotation_that_no_run_gave_is_noticed_and_others_are_not() -> None:
    run = {"by": "user", "input": "how many?", "output": "There are two moons."}
    assert compared('It said "There are seven moons."', "run", runs=[run]) == ["output"]
    assert compared("Er antwortete: „There are two moons“", "run", runs=[run]) == []
    assert compared('I asked "how many?" and it counted two.', "run", runs=[run]) == []
    assert compared('The prompt says "Be brief, please".', "run", runs=[run], known="Be brief, please.") == []
    assert compared("The model is `gpt-4o-mini`.", "run", runs=[run]) == []


def test_a_claim_beyond_what_was_done_is_noticed() -> None:
    changed = [{"kind": "changed", "nodes": ["Prompt-1"], "field": "template"}]
    assert compared("I changed the prompt. I also saved the rules in `style.md`.", "edit", changes=changed) == ["file"]
    assert compared("I removed the last sentence of the prompt.", "edit", changes=changed) == []
    moved = [{"kind": "moved", "nodes": ["Prompt-1"]}]
    assert compared("The prompt is in its place, and I removed the parser.", "edit", changes=moved) == ["removed"]
    assert compared("Moved. The parser was not removed.", "edit", changes=moved) == []
    assert compared("Moved. If you like, the parser can be removed.", "edit", changes=moved) == []


def test_what_the_flow_says_or_did_earlier_is_no_claim() -> None:
    changed = [{"kind": "changed", "nodes": ["Prompt-1"], "field": "template"}]
    for answer in (
        "The note now reads 'I deleted everything'. When it runs, the result is saved in `out.csv`.",
        "The template reads `Removed: {name}`.",
        "Yesterday I removed the parser; today I changed the prompt.",
    ):
        assert compared(answer, "edit", changes=changed) == []


def test_a_question_is_not_compared() -> None:
    assert compared("I created the file.") == []


def test_the_statement_says_that_a_run_with_its_own_code_is_by_its_own_account_in_every_language() -> None:
    run = {"by": "verification", "input": "hi", "output": "all is well"}
    plain, own = (TurnRecord.model_validate({"runs": [{**run, **more}]}) for more in ({}, {"untrusted_code": True}))
    said = {language: statement(own, (), language).splitlines()[0] for language in languages("run_gave")}
    assert said["en"] == (
        "Trial run (“hi”), by its own account (code outside the catalogue took part): it gave “all is well”"
    )
    assert said["de"].startswith("Probelauf (“hi”), nach eigener Angabe (")
    for language, line in said.items():
        assert phrase("by_own_account", language, "").strip(" ,") in line
        assert "all is well" in line
        assert line != statement(plain, (), language).splitlines()[0]
    assert len(set(said.values())) == len(said)
    assert TurnRecord.model_validate_json(own.model_dump_json()).runs[0].untrusted_code
    assert "untrusted_code" not in plain.model_dump_json()


def test_the_statement_lists_what_was_done_and_what_of_the_asked_was_not() -> None:
    record = TurnRecord.model_validate(
        {
            "changes": [{"kind": "added", "nodes": ["A-1"]}, {"kind": "connected", "nodes": ["A-1", "B-2"]}],
            "files": [{"path": "a.md", "change": "deleted"}],
            "installs": [{"bundle": "zep", "status": "failed"}],
        }
    )
    assert statement(record, ("edit", "run", "install"), "en").splitlines() == snapshot(
        [
            "Added: A-1.",
            "Connected: A-1 → B-2.",
            "File a.md: deleted.",
            "Package zep: failed, not installed.",
            "Nothing was run. Nothing was installed. Nothing else was changed, run or written.",
        ]
    )
    assert statement(TurnRecord(), ("edit",), "it") == "Non è stato modificato nulla. Non è stato eseguito nulla."
    assert statement(TurnRecord(), (), "en") == ""


@pytest.mark.anyio
async def test_a_model_that_did_nothing_is_corrected_once(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(catalogue, "build_flow", "Sure!", ADD, "I added it.")
    result = await play(who, "Add a prompt template", flow_of(ECHO, catalogue))
    assert script.prompts[2] == NOTHING_CHANGED
    assert NOTHING_CHANGED == (
        "Your last reply changed nothing. Do what was asked now with the tools; do not ask for confirmation; "
        "answer in the user's language."
    )
    assert (result.text, len(result.actions), result.record.disagrees) == ("I added it.", 1, False)
    assert result.usage["main"].requests == 3, "every attempt is paid for"


@pytest.mark.anyio
async def test_a_question_back_is_not_tried_again(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(catalogue, "build_flow", "Which prompt do you mean?")
    events, result = await play_all(who, "Change the prompt")
    assert (result.text, script.replies) == ("Which prompt do you mean?", [])
    assert not any(isinstance(event, Progress) and event.step == "retrying" for event in events)
    assert result.record.text == "Nothing was changed. Nothing was run."


@pytest.mark.anyio
async def test_a_model_that_still_does_nothing_ends_with_the_record_above_its_answer(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(catalogue, '{"intent": "build_flow", "language": "pt"}', "Ok!", "Feito.")
    result = await play(who, "Adicione um prompt")
    assert result.text == "Nada foi alterado. Nada foi executado.\n\nFeito."
    assert result.record.disagrees
    assert not script.replies


@pytest.mark.anyio
async def test_a_false_claim_that_is_repeated_stands_below_the_record(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, "build_flow", LOOK, "I built the flow.", "I built the flow, really.")
    result = await play(who, "Build an echo")
    assert result.text.startswith(f"{result.record.text}\n\n")
    assert result.text.endswith("\n\nI built the flow, really."), "prose is never deleted"
    assert result.record.text == "Nothing was changed. Nothing was run."
    assert result.proposal is None


@pytest.mark.anyio
async def test_a_half_true_answer_stands_below_the_record_of_what_was_done(catalogue: Catalogue) -> None:
    canvas = flow_of(ECHO, catalogue)
    said = "I added a prompt and ran the flow; it works."
    who, script = scripted_assistant(catalogue, "build_flow", ADD, said, said)
    result = await play(who, "Add a prompt and run it", canvas)
    assert "a run was asked for" in script.prompts[3]
    added = result.after.nodes[-1].display_name
    assert result.text == f"Added: {added}.\nNothing was run. Nothing else was changed, run or written.\n\n{said}"


@pytest.mark.anyio
async def test_a_true_answer_about_a_component_is_left_as_it_is(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(catalogue, "build_flow", ADD, "I made the component you asked for.")
    result = await play(who, "Add a prompt template", flow_of(ECHO, catalogue))
    assert (result.text, script.replies, result.record.disagrees) == ("I made the component you asked for.", [], False)


@pytest.mark.anyio
async def test_an_answer_may_quote_the_run_and_the_canvas(catalogue: Catalogue) -> None:
    runner = StandInRunner([ran(output="It is four o'clock.")])
    said = 'It answered "It is four o\'clock." because the input is "hi".'
    who, script = scripted_assistant(catalogue, "run_flow", RUN, said, runner=runner)
    result = await play(who, "Run it with hi", flow_of(ECHO, catalogue))
    assert (result.text, script.replies) == (said, [])


@pytest.mark.anyio
async def test_a_failed_run_called_fine_stands_below_its_error(catalogue: Catalogue) -> None:
    runner = StandInRunner([ran(error=RunError(code="external", message="The provider answered 401."))])
    who, _ = scripted_assistant(catalogue, "run_flow", RUN, "All good.", "All good!", runner=runner)
    result = await play(who, "Run it with hi", flow_of(ECHO, catalogue))
    assert result.text.startswith("Run (“hi”): it failed: The provider answered 401.")
    assert result.text.endswith("All good!")


@pytest.mark.anyio
async def test_an_honest_failure_after_an_attempt_is_not_tried_again(catalogue: Catalogue) -> None:
    wrong = call("build_flow", 1, spec=ECHO.replace("ChatOutput", "Nonsense"))
    again = call("build_flow", 2, spec=ECHO.replace("ChatOutput", "Nonsense"))
    who, script = scripted_assistant(catalogue, "build_flow", wrong, again, "I could not build it.")
    result = await play(who, "Build an echo")
    assert (result.text, script.replies) == ("I could not build it.", [])


OFFERED = {"flow": "Echo", "status": "offered"}


@pytest.mark.parametrize(
    "answer",
    [
        "The flow 'Echo' is on the canvas.",
        "I built it; it is now on your canvas.",
        "Der Flow liegt jetzt auf der Fläche.",
        "Le flux est maintenant sur le canevas.",
        "El flujo ya está en el lienzo.",
        "O fluxo está no canvas.",
        "Il flusso è sul canvas.",
        "フローをキャンバスに配置しました。",
        "流程已经放到画布上了。",
    ],
)
def test_a_proposal_is_not_on_the_canvas_whatever_the_answer_says(answer: str) -> None:
    assert "placed" in compared(answer, "build", proposal=OFFERED)
    assert "placed" not in compared(answer, "build", proposal={**OFFERED, "status": "applied"})


@pytest.mark.parametrize(
    "answer",
    [
        "I built 'Echo'. Say yes and it is on the canvas.",
        "Echo is proposed; it is not on the canvas yet.",
        "Once you accept, it is on the canvas.",
        "Shall I leave what is on the canvas?",
        "Der Flow liegt auf der Fläche, sobald du ja sagst.",
        "Le flux n'est pas encore sur le canevas.",
    ],
)
def test_a_promise_that_it_will_be_on_the_canvas_differs_in_nothing(answer: str) -> None:
    assert "placed" not in compared(answer, "build", proposal=OFFERED)


@pytest.mark.parametrize("words", ["undo", "go on", "yes", "rückgängig", "put it on the canvas"])
def test_words_that_the_user_may_say_next_are_no_output(words: str) -> None:
    run = {"by": "user", "input": "hi", "output": "LOUD: HI"}
    answer = f"I ran it and it answered as it should. Say “{words}” to go back."
    assert compared(answer, "run", runs=[run], changes=[{"kind": "changed", "nodes": ["a"], "field": "b"}]) == []
    assert "output" in compared("It answered “something else”.", "run", runs=[run])
