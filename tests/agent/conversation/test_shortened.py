"""Titles and previews are cut between letters as readers see them."""

import pytest

from agent.conversation.memory import TITLE, title_of
from agent.conversation.shortened import shortened

FAMILY = "👩‍👩‍👧‍👦"


@pytest.mark.parametrize(
    "letter",
    [FAMILY, "🇩🇪", "👍🏽", "e\u0301\u0323", "❤\ufe0f", "नि", "x"],
    ids=["family", "flag", "skin", "marks", "variant", "hindi", "x"],
)
@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_no_letter_is_cut_in_two(letter: str, before: str) -> None:
    for most in range(len(before) + len(letter), 40):
        cut = shortened(before + letter * 40, most)
        assert cut.endswith("…")
        assert len(cut) <= most + 1
        rest = cut.removeprefix(before).removesuffix("…")
        assert rest
        assert rest.replace(letter, "") == ""


def test_words_stand_on_one_line_and_short_ones_stay() -> None:
    assert shortened(" one\n two  ", 7) == "one two"
    assert title_of("word " * 30) == f"{('word ' * 12).strip()}…"
    assert title_of("x" * (TITLE + 1)) == f"{'x' * TITLE}…"


def test_marks_without_end_are_cut_all_the_same() -> None:
    assert shortened("a" + "\u0301" * 1_000, 60) == "a" + "\u0301" * 59 + "…"
