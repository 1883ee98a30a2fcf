"""The vocabulary finds the same whether or not a pattern is compiled for a message."""

import pytest

from agent.demo.building.recipe import recipes
from agent.demo.words import Word, fold, vocabulary
from tests.agent.demo.first_messages import first_messages

WORDS = [
    word for one in (*vocabulary().values(), *(recipe.words for recipe in recipes().values())) for word in one.values()
]


def test_a_word_is_found_wherever_its_pattern_matches() -> None:
    texts = [fold(row.message) for name in ("seen", "unseen") for row in first_messages(name)]
    differing = [
        (word, text)
        for word in WORDS
        for text in texts
        if [found.span() for found in word.finditer(text)] != [found.span() for found in word.pattern.finditer(text)]
    ]
    assert differing == []


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("build*", "Rebuild or building"),
        ("set .. up", "please set it up"),
        ("don't", "I don’t"),
        ("réponds", "Reponds!"),
    ],
)
def test_a_word_is_found_when_only_its_beginning_stands_there_letter_for_letter(written: str, text: str) -> None:
    word = Word(written, "en")
    assert word.is_in(fold(text))
    assert not Word(written, "en").is_in(fold("something else"))
