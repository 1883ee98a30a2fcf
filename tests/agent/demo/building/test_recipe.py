"""Recipes: each one is a file with words in eight languages, and each is built in every language that asks for it."""

import re
import shutil
from pathlib import Path

import pytest

from agent.demo.building.builds import flow_for
from agent.demo.building.recipe import FOLDER, recipes
from agent.demo.exact.language import take_apart
from agent.demo.reading import Reading, read
from agent.demo.words import LANGUAGES, vocabulary
from flows.catalogue import Catalogue
from flows.checks import check
from flows.spec import build
from runtime.install.environment import RunnerEnvironment
from tests.shared.yaml_files import read_yaml

ASKING = {
    "en": "Build a flow: {}", "de": "Baue einen Flow: {}", "fr": "Crée un flux : {}", "es": "Crea un flujo: {}",
    "pt": "Crie um fluxo: {}", "it": "Crea un flusso: {}", "ja": "フローを作って: {}", "zh": "做一个流程：{}",
}  # fmt: skip
ASKED = [name for name, recipe in recipes().items() if recipe.words]


def first_word(name: str, language: str) -> str:
    """The first words of a recipe that somebody could type as they stand."""
    written = read_yaml(FOLDER / f"{name}.yaml")["words"][language].split("|")
    whole = [one.strip() for one in written if not re.search(r"[*]|[.][.]", one)]
    return whole[0] if whole else re.sub(r"\s*[.][.]\s*", " x ", written[0].strip()).replace("*", "")


@pytest.fixture(scope="module")
def whole(runner_environment: RunnerEnvironment) -> Catalogue:
    return Catalogue.load(runner_environment.catalogue)


@pytest.mark.table
@pytest.mark.engine
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ASKED)
def test_every_recipe_is_built_in_every_language(name: str, language: str, whole: Catalogue) -> None:
    message = ASKING[language].format(first_word(name, language))
    found = flow_for(take_apart(message), read(message))
    assert found is not None, message
    result = build(found.spec, whole)
    assert result.flow is not None, result.faults
    assert [fault for fault in check(result.flow, whole, has_model=True) if fault.is_error] == []
    plumbing = {"Prompt Template", "ParserComponent", "SplitText"}
    expected = set(recipes()[name].types) - plumbing
    if not recipes()[name].task:
        assert expected <= {node.type for node in result.flow.nodes} | {"LanguageModelComponent"}, message


@pytest.mark.parametrize("name", ASKED)
def test_a_recipe_has_words_in_every_language(name: str) -> None:
    assert set(recipes()[name].words) == set(LANGUAGES)


@pytest.mark.parametrize("concept", list(vocabulary()))
def test_a_concept_has_words_in_every_language(concept: str) -> None:
    assert set(vocabulary()[concept]) == set(LANGUAGES)


def test_the_recipe_of_the_manual_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manual = (Path(__file__).parents[4] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    written = re.search(r"<!-- recipe -->\n```yaml\n(.*?)```", manual, re.DOTALL)
    assert written is not None
    assert len(written[1].splitlines()) <= 12
    shutil.copytree(FOLDER, tmp_path / "recipes")
    (tmp_path / "recipes" / "haiku.yaml").write_text(written[1], encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr("agent.demo.building.recipe.FOLDER", tmp_path / "recipes")
        recipes.cache_clear()
        for message in ("Build a haiku bot", "俳句を作るボットを作って", "Crée un bot à haïkus"):
            found = flow_for(take_apart(message), Reading(message))
            assert found is not None
            assert "Write a haiku" in found.spec
    recipes.cache_clear()
