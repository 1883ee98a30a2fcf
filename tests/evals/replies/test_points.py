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


@pytest.mark.parametrize(
    ("message", "text", "named"),
    [
        ("カレンダーを変更してください。", "どのカレンダーですか。", True),
        ("カレンダーを変更してください。", "どれをどうしますか。教えてください。", False),
        ("请把欢迎语改一下。", "您要哪一句欢迎语？", True),
        ("请把欢迎语改一下。", "请问您可以告诉我更多吗？", False),
        ("Vorrei cambiare il saluto.", "Quale saluto?", True),
        ("Vorrei cambiare il saluto.", "Cosa vorrei dire?", False),
    ],
)
def test_words_of_any_question_name_no_point_in_other_languages_either(message: str, text: str, named: bool) -> None:
    assert names_point(text, message, (), ()) is named


def test_repeating_the_message_names_no_point() -> None:
    message = "Take the wording from my file farewell.txt and use it as the prompt of a new bot."
    assert not names_point(f"What do you mean by: {message}?", message, (), ())


def test_a_refusal_may_name_what_the_assistant_is_for() -> None:
    assert names_scope("Sorry, I can only help with flows.")
    assert not names_scope(UNIVERSAL)


def test_a_message_has_a_word_for_its_point() -> None:
    assert point_of(TWO) == "Change"
    assert point_of("Make it") == ""
