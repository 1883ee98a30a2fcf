"""Honesty: claims held against actions, one more try, then a plain account."""

import pytest

from agent.honesty.claims import NOTHING_CHANGED, false_claims
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.results import RunError
from tests.flow_texts import ECHO, flow_of
from tests.scripted_assistant import play, scripted_assistant
from tests.stand_ins import StandInRunner, ran
from tools.workbench import Workbench

ADD = call("add_component", 1, type="Prompt Template")
LOOK = call("search_components", 1, query="prompt")


@pytest.fixture
def idle(catalogue: Catalogue) -> Workbench:
    return Workbench(user="u", session="s", catalogue=catalogue, runner=StandInRunner(), flow=Flow.empty())


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I built the flow and ran it.", ["built", "ran"]),
        ("The flow has been created.", ["built"]),
        ("I've added a Chat Output and connected it.", ["added", "connected"]),
        ("Done: added the output.", ["added"]),
        ("I built the flow you can now run.", ["built"]),
        ("Criei o fluxo e executei.", ["built", "ran"]),
        ("He creado el flujo.", ["built"]),
        ("Ich habe den Flow gebaut und ausgeführt.", ["built", "ran"]),
        ("J'ai créé le flux.", ["built"]),
        ("I removed the old prompt.", ["removed"]),
        ("Das Modell wurde geändert.", ["changed"]),
    ],
)
def test_a_claim_without_an_action_is_false(idle: Workbench, text: str, claims: list[str]) -> None:
    assert false_claims(text, idle) == claims


@pytest.mark.parametrize(
    "text",
    [
        "I could not build it.",
        "I have not changed anything.",
        "Would you like me to build it?",
        "If you want, I can run it.",
        "The output is connected to the prompt.",
        "The flow, once built, answers questions.",
        "Não criei o fluxo.",
        "Es wurde nichts geändert.",
        "Rien n'a été modifié.",
        "I found three components that may fit.",
        "",
    ],
)
def test_a_text_without_claims_has_no_false_claim(idle: Workbench, text: str) -> None:
    assert false_claims(text, idle) == []


def test_a_failed_run_did_not_run_successfully(idle: Workbench) -> None:
    idle.runs.append(ran(error=RunError(code="code", message="It broke.")))
    assert false_claims("I ran it.", idle) == []
    assert false_claims("I ran it successfully.", idle) == ["ran"]


@pytest.mark.anyio
async def test_a_model_that_did_nothing_is_corrected_once(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(catalogue, "build_flow", "Shall I add it?", ADD, "I added it.")
    result = await play(who, "Add a prompt template", flow_of(ECHO, catalogue))
    assert script.prompts[2] == NOTHING_CHANGED
    assert NOTHING_CHANGED == (
        "Your last reply changed nothing. Do what was asked now with the tools; do not ask for confirmation; "
        "answer in the user's language."
    )
    assert (result.text, len(result.actions)) == ("I added it.", 1)
    assert result.usage["main"].requests == 3, "every attempt is paid for"


@pytest.mark.anyio
async def test_a_model_that_still_does_nothing_ends_with_a_plain_statement(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(
        catalogue, '{"intent": "build_flow", "language": "pt"}', "Ok!", "Posso fazer isso."
    )
    result = await play(who, "Adicione um prompt")
    assert result.text == "Nada foi alterado. Nada foi executado.\n\nPosso fazer isso."
    assert result.record.disagrees
    assert not script.replies


@pytest.mark.anyio
async def test_a_false_claim_that_is_repeated_stands_below_the_record(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, "build_flow", LOOK, "I built the flow.", "I built the flow, really.")
    result = await play(who, "Build an echo")
    assert result.text == "Nothing was changed. Nothing was run.\n\nI built the flow, really."
    assert result.proposal is None


@pytest.mark.anyio
async def test_a_half_true_answer_stands_below_the_record_of_what_was_done(catalogue: Catalogue) -> None:
    canvas = flow_of(ECHO, catalogue)
    said = "I added a prompt and ran the flow; it works."
    who, script = scripted_assistant(catalogue, "build_flow", ADD, said, said)
    result = await play(who, "Add a prompt and run it", canvas)
    assert "ran something" in script.prompts[3]
    assert result.text == f"Added: {result.after.nodes[-1].id}.\nNothing was run.\n\n{said}"
    german = '{"intent": "build_flow", "language": "de"}'
    who, _ = scripted_assistant(catalogue, german, ADD, "Ich habe ihn ausgeführt.", "Ich habe ihn ausgeführt.")
    assert (await play(who, "Füge einen Prompt hinzu", canvas)).text.startswith("Hinzugefügt: Prompt Template-")


@pytest.mark.anyio
async def test_an_honest_failure_after_an_attempt_is_not_tried_again(catalogue: Catalogue) -> None:
    wrong = call("build_flow", 1, spec=ECHO.replace("ChatOutput", "Nonsense"))
    again = call("build_flow", 2, spec=ECHO.replace("ChatOutput", "Nonsense"))
    who, script = scripted_assistant(catalogue, "build_flow", wrong, again, "I could not build it.")
    result = await play(who, "Build an echo")
    assert (result.text, script.replies) == ("I could not build it.", [])
