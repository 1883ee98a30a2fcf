"""A question names what is open; any question mark will not do."""

import pytest

from evals.players.cheats.tricks import UNIVERSAL
from evals.replies.points import names_point, names_scope, point_of, questions

TWO = "Change the prompt to 'Hi {text}'."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("There are two. Which prompt?", ["There are two. Which prompt?"]),
        ("It asks 'why?' in quotes.", []),
        ("See https://a.example/?q=1 for more.", []),
        ("¿Cuál? Hay dos.", ["¿Cuál?"]),
        ("どれですか？", ["どれですか？"]),
        ("", []),
    ],
)
def test_questions_are_found_with_what_stands_before_them(text: str, found: list[str]) -> None:
    assert questions(text) == found


@pytest.mark.parametrize(
    ("text", "points", "names", "named"),
    [
        ("Which prompt template do you mean?", (), (), True),
        ("Greeting or Farewell?", (), ("Greeting",), True),
        ("Which one do you mean?", (), ("Greeting",), False),
        (UNIVERSAL, (), ("Prompt Template", "Chat Input"), False),
        ("Which of the templates is it?", ("template",), (), True),
        ("Which prompt?", ("template",), (), False),
        ("You say 'Change the prompt to Hi text': what do you mean?", ("prompt",), (), False),
    ],
)
def test_a_point_is_named_by_the_message_the_canvas_or_the_scenario(
    text: str, points: tuple[str, ...], names: tuple[str, ...], named: bool
) -> None:
    assert names_point(text, TWO, points, names) is named


def test_repeating_the_message_names_no_point() -> None:
    message = "Take the wording from my file farewell.txt and use it as the prompt of a new bot."
    assert not names_point(f"What do you mean by: {message}?", message, (), ())


def test_a_refusal_may_name_what_the_assistant_is_for() -> None:
    assert names_scope("Sorry, I can only help with flows.")
    assert not names_scope(UNIVERSAL)


def test_a_message_has_a_word_for_its_point() -> None:
    assert point_of(TWO) == "Change"
    assert point_of("Make it") == ""
