"""What a mandate covers: what it names best, everything, or one thing that it does not name."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.mandate import EVERYTHING, Effect, Mandate, best_named, name_words

NAMED = {
    "input": name_words(["ChatInput", "Chat Input"]),
    "output": name_words(["ChatOutput", "Chat Output"]),
    "prompt": name_words(["Prompt Template"]),
    "model": name_words(["LanguageModelComponent", "Language Model"]),
}


def test_names_are_split_and_plurals_are_one_word() -> None:
    assert name_words(["ChatOutput", "notes/to-do.md"]) >= {"chatoutput", "chat", "output", "note"}
    assert name_words(["APIRequest", "Classes"]) >= {"api", "request"}
    assert name_words(["the", "an", "Component"]) == set()


def test_two_mandates_together_cover_what_either_covers() -> None:
    one = Mandate(effects={"remove": ("memory",), "run": ()})
    both = one | Mandate(effects={"remove": ("prompt",), "run": ("the flow",), "edit": ()})
    assert both == Mandate(effects={"remove": ("memory", "prompt"), "run": (), "edit": ()})
    assert not Mandate().covers("edit", "prompt", NAMED)


def test_a_mandate_covers_what_it_names_best() -> None:
    mandate = Mandate(effects={"remove": ("chat input", "last step"), "edit": (EVERYTHING,), "run": ()})
    assert [key for key in NAMED if mandate.covers("remove", key, NAMED)] == ["input"]
    assert (mandate.unclear("remove", NAMED), mandate.unclear("replace_text", NAMED)) == (1, 0)
    assert (mandate.is_open("edit"), mandate.is_open("run"), mandate.is_open("remove")) == (True, True, False)
    assert (mandate.asks("run"), mandate.asks("reach")) == (True, False)


@pytest.mark.parametrize("effect", ["remove", "overwrite_files", "install"])
def test_a_message_that_names_nothing_means_one_thing_when_there_is_no_way_back(effect: Effect) -> None:
    unnamed = Mandate(effects={effect: ()})
    assert (unnamed.is_open(effect), unnamed.unclear(effect, NAMED)) == (False, 1)
    every = Mandate(effects={effect: (EVERYTHING,)})
    assert (every.is_open(effect), every.unclear(effect, NAMED)) == (True, 0)


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("提示词", {"zh"}),
        ("删除提示词组件", {"zh"}),
        ("نموذج اللغة", {"ar"}),
        ("ß-Rechner", {"de"}),
        ("modelo", {"pt"}),
    ],
)
def test_names_in_any_script_are_found(target: str, named: set[str]) -> None:
    names = {
        "zh": name_words(["提示词"]),
        "ar": name_words(["نموذج اللغة"]),
        "de": name_words(["ß-Rechner"]),
        "pt": name_words(["Modelo"]),
    }
    assert best_named(target, names) == named


@given(st.text(max_size=80), st.sampled_from(get_args(Effect)))
def test_no_words_cover_anything_without_a_mandate(words: str, effect: Effect) -> None:
    assert not any(Mandate().covers(effect, key, {**NAMED, words: name_words([words])}) for key in (*NAMED, words))
