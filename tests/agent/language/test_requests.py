"""What is read out of a message's words: runs, undos, languages, steps."""

import pytest

from agent.language.detect import supported_language
from agent.language.requests import asks_redo, asks_run, asks_undo, step_count


@pytest.mark.parametrize(
    "text",
    [
        "run it",
        "Build an echo flow and run it with hello",
        "Can you run this?",
        "please execute the flow",
        "Crie um flow e rode ele",
        "execute isso",
        "ejecuta el flujo",
        "Baue einen Flow und führe ihn aus",
        "exécute-le",
    ],
)
def test_a_request_to_run_is_recognised_in_five_languages(text: str) -> None:
    assert asks_run(text)


@pytest.mark.parametrize(
    "text",
    [
        "How do I run a flow?",
        "What happens when I run it?",
        "Como eu rodo o flow?",
        "Wie führe ich ihn aus?",
        "Build a flow for running shoes",
        "Explain the long run average",
        "Set up a flow that repeats what I say. Only build it, do not run it, I will try it myself.",
        "Let it use another model. Don't run it, I have no key here.",
        "build it without running: never run it",
        "Baue ihn, aber nicht ausführen",
        "Baue ihn, führe ihn aber nicht aus",
        "monte o fluxo e não execute ele",
        "constrúyelo, sin ejecutar",
        "construis-le, mais ne lance pas le flux",
    ],
)
def test_a_question_about_running_asks_for_no_run(text: str) -> None:
    assert not asks_run(text)


@pytest.mark.parametrize(
    "text",
    [
        "undo",
        "Undo that.",
        "please revert it",
        "Desfaça",
        "deshazlo",
        "annule ça",
        "annulla",
        "annulla l'ultima modifica",
        "元に戻して",
        "元に戻してください。",
        "取り消して",
        "撤销",
        "请撤销上一步",
        "恢复原状",
    ],
)
def test_a_request_to_undo_is_recognised(text: str) -> None:
    assert asks_undo(text)


@pytest.mark.parametrize(
    "text",
    [
        "redo",
        "rehacer",
        "ripristina",
        "rifai",
        "やり直して",
        "やり直す",
        "重做",
        "请重做。",
    ],
)
def test_a_request_to_redo_is_recognised(text: str) -> None:
    assert asks_redo(text)
    assert not asks_undo(text)


@pytest.mark.parametrize(
    "text",
    [
        "最初からやり直して",
        "annulla la prenotazione",
        "元に戻すボタンを追加して",
        "重做整个流程",
    ],
)
def test_a_message_that_asks_for_more_is_no_plain_undo_or_redo_in_other_languages(text: str) -> None:
    assert not asks_undo(text)
    assert not asks_redo(text)


@pytest.mark.parametrize("text", ["undo the greeting and run", "What does undo do?", "add an undo button"])
def test_a_message_that_asks_for_more_is_not_a_plain_undo(text: str) -> None:
    assert not asks_undo(text)


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("Build a flow", None, "en"),
        ("Crie um fluxo que repete o que eu digo", None, "pt"),
        ("Haz un flujo que repita el texto", None, "es"),
        ("Bitte baue mir einen Flow mit der Eingabe und dem Text", None, "de"),
        ("Crée un flux qui répète le texte", None, "fr"),
        ("whatever", "pt-BR", "pt"),
        ("hallo", "nl", "en"),
        ("", None, "en"),
    ],
)
def test_the_language_is_the_classifier_s_or_that_of_the_words(text: str, said: str | None, expected: str) -> None:
    assert supported_language(text, said) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Change the greeting", 1),
        ("Change the greeting to 'a and b', add an output and run it", 3),
        ("What is this and that?", 0),
    ],
)
def test_steps_are_counted_by_clauses(text: str, count: int) -> None:
    assert step_count(text) == count
