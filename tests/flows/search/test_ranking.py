"""Search forgives: other words, typing errors, other languages; legacy stays hidden; filters and the nearest."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.component_type import ComponentType


def types(catalogue: Catalogue, query: str, limit: int = 10, **filters: str) -> list[str]:
    return [match.type for match in catalogue.search(query, limit, **filters)]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("rag", "EmbeddingModel"),
        ("if else", "ConditionalRouter"),
        ("rest call", "APIRequest"),
        ("read a pdf", "File"),
        ("memory", "Memory"),
        ("scrape a page", "URLComponent"),
        ("pdf reading", "File"),
        ("2 + 2", "CalculatorComponent"),
        ("https://example.com/article", "URLComponent"),
        ("Hello {name}", "Prompt Template"),
        ("webscraper", "URLComponent"),
    ],
)
def test_component_is_found_by_another_word_for_it(catalogue: Catalogue, query: str, wanted: str):
    assert wanted in types(catalogue, query, 3)


@pytest.mark.parametrize(
    ("mistyped", "wanted"),
    [
        ("calclator", "CalculatorComponent"),
        ("langauge model", "LanguageModelComponent"),
        ("conditonal router", "ConditionalRouter"),
        ("chatinptu", "ChatInput"),
        ("web serch", "UnifiedWebSearch"),
    ],
)
def test_component_is_found_when_the_query_is_mistyped(catalogue: Catalogue, mistyped: str, wanted: str):
    assert types(catalogue, mistyped)[0] == wanted


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("guardar o resultado em um arquivo", "SaveToFile"),
        ("buscar en la web", "UnifiedWebSearch"),
        ("aktuelles Datum", "CurrentDate"),
        ("Sprachmodell", "LanguageModelComponent"),
        ("envoyer une requête http", "APIRequest"),
    ],
)
def test_component_is_found_in_another_language(catalogue: Catalogue, query: str, wanted: str):
    assert wanted in types(catalogue, query, 3)


def test_words_of_other_languages_do_not_disturb_english(catalogue: Catalogue):
    assert "CurrentDate" not in types(catalogue, "sort data by price", 3)


def test_the_order_and_the_endings_of_words_do_not_matter(catalogue: Catalogue):
    assert types(catalogue, "splitting texts", 3) == types(catalogue, "text splitter", 3)


def test_case_and_accents_do_not_matter(catalogue: Catalogue):
    assert types(catalogue, "MEMÓRIA") == types(catalogue, "memoria")


def test_what_is_excluded_is_not_looked_for(catalogue: Catalogue):
    assert types(catalogue, "call a model without tools")[0] == "LanguageModelComponent"


def test_legacy_component_is_first_only_when_it_is_named_exactly(catalogue: Catalogue):
    assert types(catalogue, "CombineText")[0] == "CombineText"
    assert types(catalogue, "Combine Text")[0] == "CombineText"
    assert types(catalogue, "add a CombineText please")[0] == "CombineText"
    assert types(catalogue, "combine text")[:2] == ["Operations", "CombineText"]
    assert "CombineText" not in types(catalogue, "combine two texts", 50)


def test_component_named_in_a_sentence_is_found_first(catalogue: Catalogue):
    assert types(catalogue, "connect a ChatOutput to the agent")[0] == "ChatOutput"


def test_exact_name_goes_before_everything_else(catalogue: Catalogue):
    for part in catalogue:
        assert part.type in types(catalogue, part.type, 1)
        assert part.type in types(catalogue, part.display_name, 2)


def test_filters_keep_what_accepts_and_produces(catalogue: Catalogue):
    tables = types(catalogue, "save", produces="Message", accepts="Table")
    assert tables[0] == "SaveToFile"
    assert types(catalogue, "llm", produces="LanguageModel") == ["LanguageModelComponent"]
    assert types(catalogue, "calculator", produces="Tool")[0] == "CalculatorComponent"
    assert "ChatInput" not in types(catalogue, "chat", 50, produces="Tool")
    assert set(types(catalogue, "text", 50, accepts="DataFrame")) == set(types(catalogue, "text", 50, accepts="Table"))


def test_filters_alone_list_by_name(catalogue: Catalogue):
    found = types(catalogue, "", 50, category="flow_controls")
    assert found == ["HumanInput", "ConditionalRouter", "LoopComponent", "RunFlow"]
    assert types(catalogue, "  ", 50, produces="Nonsense") == []


def test_nearest_are_offered_when_nothing_is_found(catalogue: Catalogue):
    assert catalogue.search("chatoinutx") == []
    assert [match.type for match in catalogue.nearest_matches("chatoinutx", 2)] == ["ChatInput", "ChatOutput"]
    assert catalogue.nearest_matches("") == []


def test_nearest_are_the_matches_without_filters_when_these_left_none(catalogue: Catalogue):
    assert catalogue.search("if else", produces="Embeddings") == []
    assert catalogue.nearest_matches("if else")[0].type == "ConditionalRouter"


@settings(max_examples=80)
@given(st.text(max_size=80), st.sampled_from(["JSON", "Tool", "nothing"]))
def test_search_never_fails_and_filters_only_take_away(catalogue: Catalogue, query: str, kind: str):
    assert all(match.score >= 0 for match in catalogue.nearest_matches(query))
    if query.strip():
        everything = types(catalogue, query, 100)
        assert [name for name in everything if name in types(catalogue, query, 100, produces=kind)] == types(
            catalogue, query, 100, produces=kind
        )


def test_unknown_catalogue_is_searched_by_what_it_says_of_itself():
    raw = {
        "display_name": "Invoice Mailer",
        "description": "Dispatch invoices to customers.",
        "category": "billing",
        "template": {"recipient_address": {"type": "str", "input_types": ["Message"]}},
        "outputs": [{"name": "receipt", "types": ["JSON"]}],
    }
    catalogue = Catalogue({"InvoiceMailer": ComponentType("InvoiceMailer", raw)})
    for query in ("invoices", "mailing an invoice", "recipient", "receipt", "billing", "invioce", "dispatching"):
        assert types(catalogue, query) == ["InvoiceMailer"], query


def test_swapped_letters_mean_the_word_with_all_of_them(catalogue: Catalogue):
    assert catalogue.search("modle")[0].type == catalogue.search("model")[0].type


def test_words_of_another_language_are_no_english_ones(catalogue: Catalogue):
    found = [match.type for match in catalogue.search("résumer du texte")]
    assert found[:1] == [match.type for match in catalogue.search("summarize text")][:1]
