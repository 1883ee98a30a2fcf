"""The catalogue is read whole or not at all, and can be searched and described."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows import Catalogue, CatalogueMissing, UnknownComponent
from flows.catalogue import CatalogueFormatError
from flows.paths import cache_folder, data_folder

QUERIES = [
    ("if else", "ConditionalRouter"),
    ("rest call", "APIRequest"),
    ("call a rest api", "APIRequest"),
    ("read a pdf", "File"),
    ("read a pdf file", "File"),
    ("memory", "Memory"),
    ("chat history", "Memory"),
    ("scrape a page", "URLComponent"),
    ("crawl a website", "URLComponent"),
    ("summarize text", "LanguageModelComponent"),
    ("rag", "EmbeddingModel"),
    ("uppercase", "Operations"),
    ("split text into chunks", "SplitText"),
    ("for each row", "LoopComponent"),
    ("do math", "CalculatorComponent"),
    ("calculater", "CalculatorComponent"),
    ("langauge model", "LanguageModelComponent"),
    ("chat inptu", "ChatInput"),
    ("promt templete", "Prompt Template"),
    ("run python", "PythonREPLComponent"),
    ("classify a ticket", "SmartRouter"),
    ("text between steps as json", "TypeConverterComponent"),
    ("extract fields from text", "StructuredOutput"),
    ("leer un archivo", "File"),
    ("memória", "Memory"),
    ("agent with tools", "Agent"),
    ("ChatInput", "ChatInput"),
    ("chat_input", "ChatInput"),
    ("Chat Input", "ChatInput"),
    ("CombineText", "CombineText"),
    ("Combine Text", "CombineText"),
]


@pytest.mark.parametrize(("query", "wanted"), QUERIES)
def test_component_is_found_by_what_people_call_it(catalogue: Catalogue, query: str, wanted: str):
    assert wanted in [match.type for match in catalogue.search(query, limit=5)]


def test_legacy_components_are_hidden_unless_named(catalogue: Catalogue):
    assert all(not found_legacy(catalogue, match.type) for match in catalogue.search("combine two texts", 30))
    assert catalogue.search("combinetext")[0].type == "CombineText"


def found_legacy(catalogue: Catalogue, kind: str) -> bool:
    part = catalogue.get(kind)
    return part is not None and part.legacy


@pytest.mark.parametrize("query", ["", "   ", "?!", "qqqqzzzz", "\x00"])
def test_nothing_is_found_when_nothing_is_asked_for(catalogue: Catalogue, query: str):
    assert catalogue.search(query) == []


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.integers(0, 12))
def test_search_is_ranked_limited_and_repeatable(catalogue: Catalogue, query: str, limit: int):
    found = catalogue.search(query, limit)
    assert len(found) <= limit
    assert [match.score for match in found] == sorted((match.score for match in found), reverse=True)
    assert len({match.type for match in found}) == len(found)
    assert catalogue.search(query, limit) == found


def test_description_tells_ports_options_ranges_and_defaults(catalogue: Catalogue):
    text = catalogue.describe("ConditionalRouter")
    assert "true_result: Message" in text
    assert "match_text: Message (required)" in text
    assert "one of equals | not equals | contains" in text
    assert "max_iterations=10" in text
    assert "0..1, default 0.1" in catalogue.describe("LanguageModelComponent") or "temperature" in catalogue.describe(
        "LanguageModelComponent"
    )
    assert "component_as_tool" in catalogue.describe("CalculatorComponent")
    assert "component_as_tool" not in catalogue.describe("ChatInput")
    assert "feedback" in catalogue.describe("LoopComponent")
    assert "tools: Tool (several)" in catalogue.describe("Agent")


def test_every_description_fits_its_budget(catalogue: Catalogue):
    for part in catalogue:
        text = catalogue.describe(part.type)
        assert len(text) <= 1500
        assert all(str(output["name"]) in text for output in part.outputs)


def test_no_source_or_secret_is_in_a_description(catalogue_json: dict[str, Any]):
    changed = json.loads(json.dumps(catalogue_json))
    changed["components"]["Agent"]["template"]["api_key"]["value"] = "hunter2"
    text = Catalogue.from_json(changed).describe("Agent")
    assert "hunter2" not in text
    assert "import" not in text


def test_nearest_names_are_told_when_a_type_is_unknown(catalogue: Catalogue):
    with pytest.raises(UnknownComponent) as caught:
        catalogue.describe("ChatInpt")
    assert caught.value.near[0] == "ChatInput"
    assert "ChatInput" in str(caught.value)
    assert catalogue.nearest("If-Else")[0] == "ConditionalRouter"
    assert catalogue.nearest("PromptTemplate")[0] == "Prompt Template"


def test_catalogue_is_a_container_of_types(catalogue: Catalogue):
    assert "ChatInput" in catalogue
    assert "chatinput" not in catalogue
    assert len(catalogue) == len(list(catalogue)) > 25
    assert catalogue.version == "1.13.0"


def test_error_carries_the_remedy_when_there_is_no_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WIREWRIGHT_CACHE", str(tmp_path))
    with pytest.raises(CatalogueMissing) as caught:
        Catalogue.load()
    assert "wirewright runner install" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"format": 2, "components": {}}', '{"format": 1}', '{"format": 1, "components": {"A": {}}}'],
)
def test_file_is_refused_when_it_is_no_catalogue(text: str, tmp_path: Path):
    path = tmp_path / "catalogue.json"
    path.write_text(text)
    with pytest.raises(CatalogueFormatError):
        Catalogue.load(path)


def test_folders_follow_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("WIREWRIGHT_CACHE", raising=False)
    monkeypatch.setenv("WIREWRIGHT_DATA", str(tmp_path))
    assert (data_folder(), cache_folder()) == (tmp_path, tmp_path / "cache")
    monkeypatch.setenv("WIREWRIGHT_CACHE", str(tmp_path / "other"))
    assert cache_folder() == tmp_path / "other"
