"""The language of a message: words decide alone only where no detection could change it."""

from hypothesis import given
from hypothesis import strategies as st

from agent.language.votes import Detected, counted, elected

CODES = ("en", "de", "fr", "es")
VOTES = st.fixed_dictionaries({code: st.integers(0, 12).map(lambda third: third / 3) for code in CODES})
OWN = st.lists(st.sampled_from(CODES), unique=True)
DETECTED = st.tuples(st.sampled_from((*CODES, "ja", None)), st.floats(0, 1))


@given(VOTES, OWN, st.integers(1, 9), DETECTED)
def test_what_is_elected_is_what_the_detection_would_have_elected(
    votes: dict[str, float], own: list[str], words: int, detected: Detected
) -> None:
    assert elected(votes, own, words, lambda: detected) == counted(votes, own, words, detected)


def test_words_of_one_language_alone_need_no_detection() -> None:
    assert elected({"en": 2.0, "de": 0.0}, ["en"], 4, _never) == "en"


def test_words_of_several_languages_need_one() -> None:
    assert elected({"en": 1.0, "de": 1.0}, [], 5, lambda: ("de", 0.9)) == "de"


def _never() -> Detected:
    raise AssertionError("nothing was to be detected")
