"""What a message calls for: names, open words, and words that ask for something to go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.document import Flow
from tools.mandate import SPEECH, called_for, speaks, words_of

NAMED = {
    "input": words_of(["ChatInput", "Chat Input"]),
    "output": words_of(["ChatOutput", "Chat Output"]),
    "prompt": words_of(["Prompt Template"]),
    "model": words_of(["LanguageModelComponent", "Language Model"]),
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
def test_what_a_message_calls_for(words: str, free: set[str]) -> None:
    assert {key for key in NAMED if called_for([key], words, NAMED)} == free


def test_one_end_of_a_connection_is_enough() -> None:
    assert called_for(["prompt", "output"], "Unplug the prompt", NAMED)
    assert not called_for(["input", "output"], "Unplug the prompt", NAMED)


@given(st.text(max_size=80))
def test_what_is_called_for_alone_is_called_for_together_with_others(words: str) -> None:
    for key in NAMED:
        if called_for([key], words, NAMED):
            assert called_for(list(NAMED), words, NAMED)


def test_names_are_split_and_plurals_are_one_word() -> None:
    assert words_of(["ChatOutput", "notes/to-do.md"]) >= {"chatoutput", "chat", "output", "note"}
    assert words_of(["APIRequest", "Classes"]) >= {"api", "request"}
    assert words_of(["the", "an", "Component"]) == set()


def test_only_a_long_name_can_speak() -> None:
    assert not speaks(Flow.from_json({"name": "My own small flow", "data": {"nodes": [], "edges": []}}))
    assert speaks(Flow.from_json({"name": "word " * SPEECH, "data": {"nodes": [], "edges": []}}))
    assert not speaks(Flow.empty())
