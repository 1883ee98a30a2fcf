"""The catalogue is read whole or not at all, and can be searched and described."""

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from flows.catalogue import Catalogue, CatalogueFormatError, CatalogueMissing, UnknownComponent
from flows.component_type import ComponentType
from flows.json_values import JsonObject
from flows.paths import cache_folder, data_folder


def test_legacy_components_are_hidden_unless_named(catalogue: Catalogue):
    assert all(not found_legacy(catalogue, match.type) for match in catalogue.search("combine two texts", 30))
    assert catalogue.search("combinetext")[0].type == "CombineText"


def found_legacy(catalogue: Catalogue, kind: str) -> bool:
    part = catalogue.get(kind)
    return part is not None and part.legacy


@pytest.mark.parametrize("query", ["", "   ", "?!", "qqqqzzzz", "\x00"])
def test_nothing_is_found_when_nothing_is_asked_for(catalogue: Catalogue, query: str):
    assert catalogue.search(query) == []


@settings(max_examples=60)
@given(st.text(max_size=60), st.integers(0, 12))
def test_search_is_ranked_limited_and_repeatable(catalogue: Catalogue, query: str, limit: int):
    found = catalogue.search(query, limit)
    assert len(found) <= limit
    assert [match.score for match in found] == sorted((match.score for match in found), reverse=True)
    assert len({match.type for match in found}) == len(found)
    assert catalogue.search(query, limit) == found


def own(name: str, **changes: Any) -> ComponentType:
    """A component of the user's own."""
    raw = {"display_name": name, "description": "Greets a guest in verse.", "category": "custom", "template": {}}
    return ComponentType(name, {**raw, "outputs": [{"name": "greeting", "types": ["Message"]}], **changes})


def test_own_component_is_there_at_once_beside_the_built_ins(catalogue: Catalogue):
    catalogue.search("anything")
    view = catalogue.with_components([own("VerseGreeter")])
    assert view.get("VerseGreeter") is not None
    assert "VerseGreeter" in view
    assert len(view) == len(catalogue) + 1
    assert [part.type for part in view][-1] == "VerseGreeter"
    assert view.search("greet a guest in verse")[0].type == "VerseGreeter"
    assert view.search("chat input")[0].type == "ChatInput"
    assert view.nearest("VerseGreter") == ["VerseGreeter"]
    assert "greeting: Message" in view.describe("VerseGreeter")
    assert view.version == catalogue.version


def test_catalogue_stays_as_it_was_when_a_view_adds_to_it(catalogue: Catalogue):
    view = catalogue.with_components([own("VerseGreeter")])
    assert "VerseGreeter" not in catalogue
    assert catalogue.search("greet a guest in verse") != view.search("greet a guest in verse")


def test_own_components_add_up_and_a_new_version_replaces_the_old(catalogue: Catalogue):
    view = catalogue.with_components([own("VerseGreeter"), own("Second")])
    view = view.with_components([own("VerseGreeter", description="Knits socks."), own("Third")])
    assert len(view) == len(catalogue) + 3
    assert view.search("knit socks")[0].type == "VerseGreeter"
    assert view.get("VerseGreeter") == own("VerseGreeter", description="Knits socks.")


@pytest.mark.parametrize("name", ["ChatInput", "chat_input", "CombineText", "PromptComponent", "Prompt"])
def test_own_component_is_left_out_and_reported_when_a_built_in_has_its_name(catalogue: Catalogue, name: str):
    view = catalogue.with_components([own(name, display_name="Mine"), own("Innocent")])
    assert view.shadowed == (name,)
    assert view.get(name) == catalogue.get(name)
    assert len(view) == len(catalogue) + 1
    assert "Mine" not in [match.display_name for match in view.search(name)]


def test_built_in_goes_first_when_an_own_component_has_its_display_name(catalogue: Catalogue):
    view = catalogue.with_components([own("MySums", display_name="Calculator")])
    assert [match.type for match in view.search("Calculator", 2)] == ["CalculatorComponent", "MySums"]


@pytest.mark.parametrize(
    ("alias", "kind"),
    [("PromptComponent", "Prompt Template"), ("Prompt", "Prompt Template"), ("FileComponent", "File")],
)
def test_component_answers_to_its_class_and_short_name(catalogue: Catalogue, alias: str, kind: str):
    part = catalogue.get(alias)
    assert part is not None
    assert part.type == kind
    assert alias not in catalogue
    assert catalogue.describe(alias) == catalogue.describe(kind)


def bundled(bundle: str, class_name: str) -> ComponentType:
    kind = f"ext:{bundle}:{class_name}Component@official"
    metadata = {"component_class_name": f"{class_name}Component"}
    return ComponentType(kind, {"template": {}, "name": class_name, "metadata": metadata})


def test_bundled_component_answers_to_its_class_unless_two_have_it():
    parts = [bundled("acme", "Widget"), bundled("acme", "Model"), bundled("other", "Model")]
    catalogue = Catalogue({part.type: part for part in parts})
    for name in ("Widget", "WidgetComponent", "ext:acme:WidgetComponent", "ext:acme:WidgetComponent@official"):
        assert catalogue.get(name) is parts[0], name
    assert catalogue.get("ModelComponent") is None
    assert catalogue.get("ext:other:ModelComponent") is parts[2]
    assert catalogue.nearest("Widgit")[0] == parts[0].type


def test_short_name_never_hides_a_type(catalogue: Catalogue):
    for part in catalogue:
        assert catalogue.get(part.type) is part


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


@pytest.mark.parametrize("budget", [700, 1500, 4000])
def test_every_description_fits_its_budget(catalogue: Catalogue, budget: int):
    for part in catalogue:
        text = catalogue.describe(part.type, budget)
        shown = [(name, field) for name, field in part.template.items() if name != "code" and field.get("show", True)]
        required = [name for name, field in shown if field.get("required")]
        assert len(text) <= max(budget, len(catalogue.describe(part.type, 1)))
        assert all(str(output["name"]) in text for output in part.outputs)
        assert all(name in text for name in required)
        assert ":\n" not in text.replace(":\n  ", "")


def test_what_is_left_out_of_a_description_is_said(catalogue: Catalogue):
    assert "left out" in catalogue.describe("File", 400)
    assert "left out" not in catalogue.describe("ChatInput", 4000)


CHOICES: JsonObject = {
    "mode": [
        {
            "base": {"fields": {"path": {"show": False}, "url": {"show": True}}},
            "set": {
                "File": {
                    "fields": {"path": {"show": True}, "url": {"show": False}, "kind": {"options": ["a", "b"]}},
                    "outputs": [{"name": "text", "types": ["Message"]}],
                },
            },
            "keys": ["", "Web"],
        },
        {"when": {"deep": "true"}, "base": {}, "set": {"Web": {"fields": {"depth": {"show": True}}}}, "keys": ["File"]},
    ],
    "routes": [{"rows": {"outputs": {"": {"name": "way_⟦#⟧", "types": ["Message"]}}}}],
}


def test_description_tells_what_each_choice_shows_offers_and_gives():
    template: JsonObject = {
        "mode": {"type": "str", "options": ["Web", "File"], "value": "Web"},
        "kind": {"type": "str", "options": ["a"]},
        "depth": {"type": "int", "show": False, "value": 2},
        "path": {"type": "str", "show": False},
        "url": {"type": "str"},
    }
    raw: JsonObject = {"description": "Reads.", "template": template, "outputs": [{"name": "x", "types": ["JSON"]}]}
    catalogue = Catalogue({"Reader": ComponentType("Reader", raw, CHOICES)})
    assert catalogue.describe("Reader") == snapshot("""\
Reader, component: Reads.
outputs:
  x: JSON
inputs: none
fields:
  mode: str, one of Web | File, default "Web"
  kind: str, one of a
  url: str
choices:
  mode: Web -> url; File -> path, kind is one of a | b, gives text: Message
  mode (when deep=true): Web -> depth=2; File -> nothing more
  routes: each row gives the output way_<number>: Message\
""")


def test_description_tells_how_a_model_is_written_and_what_depends_on_the_place(catalogue_json: dict[str, Any]):
    components = copy.deepcopy(catalogue_json["components"])
    bases = {"type": "str", "options": [], "refresh_button": True, "required": True, "show": True, "value": ""}
    components["Agent"]["template"]["bases"] = bases
    text = Catalogue.from_json({**catalogue_json, "components": components}).describe("Agent")
    assert "model: model, written provider:name" in text
    assert "bases: str, one of what is there where it runs, required" in text


def test_no_source_or_secret_is_in_a_description(catalogue_json: dict[str, Any]):
    changed = json.loads(json.dumps(catalogue_json))
    changed["components"]["Agent"]["template"]["api_key"]["value"] = "hunter2"
    text = Catalogue.from_json(changed).describe("Agent")
    assert "hunter2" not in text
    assert "import" not in text


def test_nearest_names_are_reported_when_a_type_is_unknown(catalogue: Catalogue):
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
def test_file_is_refused_when_it_is_not_a_catalogue(text: str, tmp_path: Path):
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


@pytest.mark.skipif(sys.platform != "linux", reason="the folders of the XDG specification")
def test_data_stays_where_linux_users_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("WIREWRIGHT_DATA", "WIREWRIGHT_CACHE", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".local" / "share" / "wirewright"
    assert cache_folder() == data_folder() / "cache"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_folder() == tmp_path / "xdg" / "wirewright"
