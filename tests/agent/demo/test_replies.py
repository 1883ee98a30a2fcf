"""What the planner says: in eight languages, with the same holes, and never what is meant for a model."""

import re
import string
from pathlib import Path

import pytest

from agent.demo import replies
from agent.demo.replies import DECLINES, reply
from agent.demo.words import LANGUAGES
from tests.shared.yaml_files import read_yaml

TEXTS: dict[str, dict[str, str]] = read_yaml(Path(replies.__file__).with_suffix(".yaml"))
FOR_A_MODEL = re.compile(
    r"tell the user|ask the user|do not call|do not ask|call \w+_\w+|build_flow|edit_flow", re.IGNORECASE
)


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", list(TEXTS))
def test_a_reply_is_there_in_every_language_with_the_same_holes(key: str) -> None:
    assert set(TEXTS[key]) == set(LANGUAGES)
    assert len({frozenset(holes(text)) for text in TEXTS[key].values()}) == 1
    assert not any(FOR_A_MODEL.search(text) for text in TEXTS[key].values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_decline_says_what_the_planner_can_do_or_asks_back(language: str) -> None:
    for key in ("off_topic", "unable", "empty"):
        assert "JSON" in reply(key, language)
    for key in ("which_change", "which_model", "no_place"):
        assert re.search(r"[?？]", reply(key, language, said="x", why="y"))
    assert "stopped" in DECLINES


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_commands_for_a_component_of_ones_own_are_those_of_the_manual(language: str) -> None:
    manual = (Path(__file__).parents[3] / "docs/editing.md").read_text(encoding="utf-8")
    commands = re.findall(r"`(wirewright [^`]+)`", reply("own_component", language))
    assert len(commands) == 3
    assert all(f"$ {command}" in manual for command in commands)


FAMILIAR = re.compile(
    r"\b(?:tu|toi|ton|ta|tes)\b|-tu\b|\bt'|(?:^|[:;,.?] |\b(?:et|ou|mais|puis) )(?:ajoute|choisis|cherche|connecte"
    r"|définis|demande|dis|donne|écris|fais|garde|indique|installe|mets|nommes?|réessaie|regarde|relance|relie|supprime|utilise"
    r"|vérifie)(?:-\w+)?\b",
    re.IGNORECASE,
)
"""How someone is addressed as "tu", or told to do something."""


@pytest.mark.parametrize(
    "path", sorted(Path(replies.__file__).parents[1].glob("**/*.yaml")), ids=lambda path: path.stem
)
def test_french_addresses_everyone_as_vous(path: Path) -> None:
    said = re.findall(r'^[- ] +fr: (".*")$', path.read_text(encoding="utf-8"), re.MULTILINE)
    ours = [text for text in said if path.name != "phrases.yaml" or f"  fr: {text}" not in _of_players(path)]
    assert [
        text for text in ours if FAMILIAR.search(re.sub(r"« .*? »|`.*?`|: exécute-le avec bonjour", "", text[1:]))
    ] == []


def _of_players(path: Path) -> str:
    """What the players of the evaluation say to the assistant."""
    return "".join(re.findall(r"^player_\w+:\n(?:  .*\n)+", path.read_text(encoding="utf-8"), re.MULTILINE))
