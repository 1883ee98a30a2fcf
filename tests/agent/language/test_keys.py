"""Keys typed into a message: which are removed, and that no model, log or store sees them."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation.memory import ProcessMemory
from agent.language.keys import REMOVED, without_keys
from flows.catalogue import Catalogue
from runtime.telemetry import event_fields
from tests.scripted_assistant import play, scripted_assistant

TAIL = "Ab3dEf6hIj9kLm2nOp5q"
KEYS = [
    f"sk-{TAIL}",
    f"sk-ant-api03-{TAIL}_{TAIL}",
    f"sk-proj-{TAIL}-{TAIL}",
    f"AIza{TAIL}{TAIL}",
    f"gsk_{TAIL}",
    f"hf_{TAIL}",
    f"ghp_{TAIL}",
    f"github_pat_{TAIL}",
    "AKIAIOSFODNN7EXAMPLE",
    f"xoxb-1234567890-{TAIL}",
    f"eyJhbGciOiJIUzI1NiJ9.{TAIL}.{TAIL}",
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_a_known_shape_is_removed_wherever_it_stands(key: str) -> None:
    for text in (key, f"Use {key}, please", f'{{"api_key":"{key}"}}', f"(key={key})"):
        assert without_keys(text) == text.replace(key, REMOVED) or key not in without_keys(text)
        assert key not in without_keys(text)


@pytest.mark.parametrize(
    "text",
    [f"My API key is {TAIL}", f"password: {TAIL}", f"Mein API-Schlüssel ist {TAIL}", f"Authorization: Bearer {TAIL}"],
)
def test_what_is_named_as_a_key_is_removed(text: str) -> None:
    assert without_keys(text) == text.replace(TAIL, REMOVED)


@pytest.mark.parametrize(
    "text",
    [
        "Connect 'Prompt Template-uV2QQ.text' to ChatOutput-J4iyL",
        "Set the API key to OPENAI_API_KEY",
        "Set the API key to MY_OPENAI_API_KEY_2",
        "Which API key does the Agent need, and where is the password kept?",
        "Use gpt-4o-mini-2024-07-18 and claude-opus-5-5-20260101",
        "The run 5fdcb1e2-7a0c-4a52-9d1d-0a6a4f1b9c11 failed with sk-short",
        "Load https://example.org/a/very/long/path/0123456789abcdef0123456789",
        "ask-someone-who-knows-everything-about-it",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert without_keys(text) == text


@given(st.text(max_size=200))
def test_removing_keys_twice_is_removing_them_once(text: str) -> None:
    assert without_keys(without_keys(text)) == without_keys(text)


@pytest.mark.anyio
async def test_no_model_log_or_store_sees_a_typed_key(catalogue: Catalogue, caplog: pytest.LogCaptureFixture) -> None:
    memory, key = ProcessMemory(), KEYS[0]
    script = ('{"intent": "question"}', "You can set it as a variable.")
    who, model = scripted_assistant(catalogue, *script, memory=memory, trace_content=True)
    with caplog.at_level(logging.DEBUG):
        result = await play(who, f"My key is {key}, use it")
    assert key not in str(model.requests)
    assert f"My key is {REMOVED}, use it" in model.prompts[0]
    assert key not in (await memory.load("local", "default")).model_dump_json()
    assert key not in result.model_dump_json()
    assert all(key not in str(event_fields(record)) for record in caplog.records)
    assert "Your message holds a key" in result.text


@pytest.mark.anyio
async def test_an_answer_to_a_message_without_keys_says_nothing_about_them(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, '{"intent": "question"}', "A chat input.")
    assert (await play(who, "What is it?")).text == "A chat input."
