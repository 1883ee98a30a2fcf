"""The removals that a message allows: names, unspecific words, and words that ask for a removal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.document import Flow
from tools.mandate import INSTRUCTION_WORDS, Mandate, allows_removal, has_long_names, name_words, taken_out

NAMED = {
    "input": name_words(["ChatInput", "Chat Input"]),
    "output": name_words(["ChatOutput", "Chat Output"]),
    "prompt": name_words(["Prompt Template"]),
    "model": name_words(["LanguageModelComponent", "Language Model"]),
}


@pytest.mark.parametrize(
    ("words", "free"),
    [
        ("Remove the chat input", {"input"}),
        ("remove the ChatOutput", {"output"}),
        ("Drop both prompts and the model", {"prompt", "model"}),
        ("Take the chat components away", {"input", "output"}),
        ("Delete the last step", set(NAMED)),
        ("Fix it", set(NAMED)),
        ("Remove everything between the chat input and the chat output", set(NAMED)),
        ("Use Claude instead", set(NAMED)),
        ("Run it with hello", set()),
        ("What does it give for hello?", set()),
        ("Add a line to the prompt", {"prompt"}),
        ("", set()),
    ],
)
def test_a_message_allows_the_removals_it_asks_for(words: str, free: set[str]) -> None:
    assert {key for key in NAMED if allows_removal([key], words, NAMED)} == free


def test_one_end_of_a_connection_is_enough() -> None:
    assert allows_removal(["prompt", "output"], "Unplug the prompt", NAMED)
    assert not allows_removal(["input", "output"], "Unplug the prompt", NAMED)


@given(st.text(max_size=80))
def test_a_removal_allowed_alone_is_allowed_with_others(words: str) -> None:
    for key in NAMED:
        if allows_removal([key], words, NAMED):
            assert allows_removal(list(NAMED), words, NAMED)


def test_names_are_split_and_plurals_are_one_word() -> None:
    assert name_words(["ChatOutput", "notes/to-do.md"]) >= {"chatoutput", "chat", "output", "note"}
    assert name_words(["APIRequest", "Classes"]) >= {"api", "request"}
    assert name_words(["the", "an", "Component"]) == set()


def test_only_a_long_name_may_hold_an_instruction() -> None:
    assert not has_long_names(Flow.from_json({"name": "My own small flow", "data": {"nodes": [], "edges": []}}))
    assert has_long_names(Flow.from_json({"name": "word " * INSTRUCTION_WORDS, "data": {"nodes": [], "edges": []}}))
    assert not has_long_names(Flow.empty())


def test_two_mandates_together_cover_what_either_covers() -> None:
    one = Mandate(effects={"remove": ("memory",), "run": ()})
    both = one | Mandate(effects={"remove": ("prompt",), "run": ("the flow",), "edit": ()})
    assert both == Mandate(effects={"remove": ("memory", "prompt"), "run": (), "edit": ()})
    assert not Mandate().covers("edit", "prompt", NAMED)


def test_a_mandate_covers_what_it_names_best() -> None:
    mandate = Mandate(effects={"remove": ("chat input", "last step"), "edit": ("everything else",), "run": ()})
    assert [key for key in NAMED if mandate.covers("remove", key, NAMED)] == ["input"]
    assert (mandate.unclear("remove", NAMED), mandate.unclear("replace_text", NAMED)) == (1, 0)
    assert (mandate.is_open("edit"), mandate.is_open("run"), mandate.is_open("remove")) == (True, True, False)


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("Add a line to the prompt and remove the model", {"model"}),
        ("Take the chat input out", {"input"}),
        ("Don't remove the prompt", set()),
        ("Use the prompt without changing the model", set()),
        ("Swap the model; keep the prompt", {"model"}),
        ("Improve the prompt", set()),
    ],
)
def test_only_a_clause_that_asks_for_it_takes_something_out(words: str, gone: set[str]) -> None:
    assert taken_out(words, NAMED) == gone
