"""The table of phrases: every phrase in every language, with the same placeholders."""

import string
from importlib.resources import files

import pytest

from agent.language.detect import LANGUAGES
from agent.language.phrases import languages, phrase
from tests.shared.yaml_files import read_yaml

TABLE: dict[str, dict[str, str]] = read_yaml(files("agent.language").joinpath("phrases.yaml"))

OWN = [key for key in TABLE if not key.startswith("player_")]
"""The assistant's own phrases, which are in more languages than those of the players."""


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("key", TABLE)
def test_every_phrase_is_there_in_every_language_with_the_same_placeholders(key: str) -> None:
    assert set(TABLE[key]) == set(LANGUAGES) | (languages("nothing") if key in OWN else set())
    assert {tuple(placeholders(text)) for text in TABLE[key].values()} == {tuple(placeholders(TABLE[key]["en"]))}


def test_a_phrase_is_filled_and_english_where_there_is_no_translation() -> None:
    assert phrase("added", "de", "Prompt") == "Hinzugefügt: Prompt."
    assert phrase("off_topic", "fr").startswith("Je suis Wirewright")
    assert languages("nothing") - set(LANGUAGES) == {"it", "ja", "zh"}
    assert phrase("player_run", "it") == phrase("player_run", "en")
