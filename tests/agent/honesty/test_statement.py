"""The record of a turn in words: why a run failed is said in the user's language, as far as it can be."""

import pytest

from agent.demo.words import LANGUAGES
from agent.honesty.statement import statement
from agent.turn.record import TurnRecord
from tools.effects import RunEffect

NOT_CONFIGURED = "Provider 'openai' is not configured. Available providers: demo only."


def said(error: str, language: str) -> str:
    return statement(TurnRecord(runs=[RunEffect(by="verification", input="hello", error=error)]), [], language)


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != "en"])
def test_why_a_run_failed_is_said_in_the_users_language(language: str) -> None:
    text = said(NOT_CONFIGURED, language)
    assert "is not configured" not in text
    assert "'openai'" in text


def test_english_is_left_as_it_is() -> None:
    assert NOT_CONFIGURED in said(NOT_CONFIGURED, "en")


def test_a_reason_without_a_whole_translation_is_left_in_english() -> None:
    assert "Whatever broke. Try again in a few seconds." in said("Whatever broke. Try again in a few seconds.", "de")
