"""Taking a message apart by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.demo.exact.language import take_apart


@pytest.mark.parametrize(
    ("message", "runs", "value"),
    [
        ("run it with hello", True, "hello"),
        ("Build a flow, then run it with 'two words'.", True, "two words"),
        ("run the flow", True, None),
        ("Build an echo and test it on the input “Grüße”", True, "Grüße"),
        ("add a chat output", False, None),
        ("Build a flow with the prompt 'run it with care: {text}'", False, None),
        ("run it", True, None),
        ("エコーのフローを作って、helloで実行して", True, "hello"),
        ("「こんにちは」で試してください", True, "こんにちは"),
        ("このフローを実行して", True, None),
        ("テンプレートを見せて", False, None),
        ("创建一个回声流程，用hello运行一下", True, "hello"),
        ("运行这个流程", True, None),
        ("用Python写一个翻译流程", False, None),
        ("Crea un flusso eco e provalo con ciao", True, "ciao"),
        ("eseguilo", True, None),
        ("eseguilo con 'ciao'", True, "ciao"),
        ("Echo flow bauen und mit 'Hallo' ausführen", True, "Hallo"),
        ("führe ihn mit hallo aus", True, "hallo"),
        ("führe ihn aus mit 'hallo'", True, "hallo"),
        ("Starte ihn mit Ada.", True, "Ada"),
        ("Ausführen mit Test", True, "Test"),
        ("Baue einen Flow, der den Text in Großbuchstaben ausgibt", False, None),
        ("fais un echo et lance le avec salut", True, "salut"),
        ("Crée un flux qui teste la longueur du texte", False, None),
        ("execute com olá", True, "olá"),
        ("Muda a palavra para socorro e executa com socorro.", True, "socorro"),
    ],
)
def test_the_run_clause_is_found_outside_quotes(message: str, runs: bool, value: str | None) -> None:
    request = take_apart(message)
    assert (request.runs, request.input) == (runs, value)


def test_clauses_are_split_at_verbs_and_not_inside_quotes() -> None:
    request = take_apart("Add a Chat Output and connect the prompt to it, then set the template to 'a and set b'.")
    assert [request.unmask(clause) for clause in request.clauses] == [
        "Add a Chat Output",
        "connect the prompt to it",
        "set the template to a and set b",
    ]


@given(st.text(alphabet=st.characters(exclude_characters="'", exclude_categories=["Cs"]), min_size=1))
def test_a_quoted_value_comes_back_to_the_letter(value: str) -> None:
    request = take_apart(f"change the prompt to '{value}'")
    if request.quoted == (value,):
        assert request.unmask(request.text) == f"change the prompt to {value}".strip()
    else:  # another kind of quotes inside the value was closed first
        assert any(mark in value for mark in '"“”`‘’')


@given(st.text(max_size=200))
def test_any_message_can_be_taken_apart(message: str) -> None:
    request = take_apart(message)
    assert isinstance(request.clauses, list)
