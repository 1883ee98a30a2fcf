"""Lines that fit a terminal: no line is wider, no word is broken that fits, nothing is lost."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth import width as cells

from cli.output.wrapping import Wrapper, wrapped

WIDTHS = st.integers(min_value=12, max_value=120)
TEXTS = st.text(st.sampled_from("ab é-+~1.世界，「」 \n"), max_size=200)


def lines(text: str, width: int) -> list[str]:
    return wrapped(text, width).split("\n")


@given(TEXTS, WIDTHS)
def test_no_line_is_wider_than_the_terminal(text: str, width: int) -> None:
    assert [line for line in lines(text, width) if cells(line) > width] == []


@given(TEXTS, WIDTHS)
def test_only_spaces_and_line_ends_are_added_or_left_out(text: str, width: int) -> None:
    assert "".join(wrapped(text, width).split()) == "".join(text.split())


@example(words=["-", "abcabcabcabc"], width=12)
@given(st.lists(st.text(st.sampled_from("abc-_./"), min_size=1, max_size=12), max_size=40), WIDTHS)
def test_words_that_fit_are_never_broken(words: list[str], width: int) -> None:
    assert wrapped(" ".join(words), width).split() == words


@given(st.lists(TEXTS, max_size=8), WIDTHS)
def test_a_text_in_pieces_is_broken_like_the_whole(pieces: list[str], width: int) -> None:
    wrapper = Wrapper(width)
    assert "".join([*map(wrapper.feed, pieces), wrapper.end()]) == wrapped("".join(pieces), width)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("- one two three four five", ["- one two three four", "  five"]),
        ("  ~ Prompt Template-5kZLJ: template", ["  ~ Prompt", "    Template-5kZLJ:", "    template"]),
        ("    code that is indented", ["    code that is", "    indented"]),
        ("日本語の文章です。これは長い文です。", ["日本語の文章です。こ", "れは長い文です。"]),
        ("日本語の文章です日本。です", ["日本語の文章です日", "本。です"]),
        ("see https://a.example/a/very/long/path now", ["see", "https://a.example/a/", "very/long/path now"]),
        ("- three is-twenty-columns-wi", ["- three", "is-twenty-columns-wi"]),
        ("one\n\ntwo", ["one", "", "two"]),
    ],
)
def test_lines_continue_below_their_text(text: str, shown: list[str]) -> None:
    assert lines(text, 20) == shown


def test_control_characters_cannot_steer_the_terminal() -> None:
    shown = wrapped("\x1b[2Jgone\x07\r\n\tnext\x9b1m", 40)
    assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown) == []
    assert shown == "[2Jgone\n    next1m"


@pytest.mark.parametrize("width", [0, 1, 2])
def test_a_terminal_without_room_ends_all_the_same(width: int) -> None:
    assert "".join(wrapped("- a b 世", width).split()) == "-ab世"
