"""Requests in five languages: which one it is, and the words that rules look for in English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.demo.exact.language import take_apart
from agent.demo.exact.translations import with_english_keywords
from agent.language.detect import Language


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        ("Build a flow that echoes what I say", "en"),
        ("Crie um fluxo que repete o que eu digo", "pt"),
        ("Crea un flujo que repita el mensaje", "es"),
        ("Baue einen Flow, der wiederholt, was ich sage", "de"),
        ("Crée un flux qui répète le message", "fr"),
        ("add a prompt con queso", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_request_is_detected(message: str, spoken: Language) -> None:
    assert take_apart(message).spoken == spoken


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Crie um fluxo que repete o que eu digo e execute-o com olá", "olá"),
        ("Crea un flujo que repita el mensaje y pruébalo con hola", "hola"),
        ("Baue einen Flow, der wiederholt, was ich sage, und führe ihn mit 'hallo welt' aus", "hallo welt"),
        ("Crée un flux qui répète le message et exécute-le avec bonjour", "bonjour"),
        ("Baue ein Echo und lass es mit „Grüße“ laufen", "Grüße"),
        ("Crée un écho et fais-le tourner avec bonjour", "bonjour"),
        ("Crea un eco e fallo girare con ciao", "ciao"),
    ],
)
def test_a_run_with_an_input_is_understood(message: str, said: str) -> None:
    request = take_apart(message)
    assert request.runs
    assert request.input == said


@given(st.text(max_size=80))
def test_english_stays_as_it_is_written(text: str) -> None:
    assert with_english_keywords(text, "en") == text


@given(st.text(max_size=80).map(lambda text: f"Crea un flujo que responda '{text.replace(chr(39), '')}' con el texto"))
def test_quoted_values_are_never_translated(message: str) -> None:
    quoted = message[message.index("'") + 1 : message.rindex("'")]
    assert take_apart(message).quoted[0] == quoted
