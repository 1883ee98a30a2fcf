"""Words are compared without case, accents and endings, and mended when they are mistyped or run together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.search.spelling import Spelling
from flows.search.synonyms import entries, paraphrases, synonyms, translations
from flows.search.tokenizer import fold, plain, stem, words

WORDS = st.text(alphabet="abcdeé", max_size=8)


@pytest.mark.parametrize(
    "family",
    [
        "split splits splitter splitting",
        "calculate calculator calculation calculations",
        "route router routing",
        "classify classifier classified classification",
        "query queries querying",
        "condition conditional conditions",
        "convert converter conversion",
        "embed embedding embeddings embedded",
        "retrieve retriever retrieval",
    ],
)
def test_words_of_one_family_have_one_stem(family: str):
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(("first", "second"), [("timer", "time"), ("user", "use"), ("conversation", "conversion")])
def test_words_that_mean_something_else_keep_apart(first: str, second: str):
    assert stem(first) != stem(second)


def test_names_written_in_one_give_their_parts():
    assert words("ChatInput") == ["chat", "input", "chatinput"]
    assert words("APIRequest") == ["api", "request", "apirequest"]
    assert words("read_a-PDF file.") == ["read", "a", "pdf", "file"]


def test_case_accents_and_separators_fold_away():
    assert fold("Ümläut ÉTÉ") == "umlaut ete"
    assert plain("Chat Input") == plain("chat_input") == plain("ChatInput") == "chatinput"


@given(st.text(max_size=40))
def test_folding_twice_is_folding_once(text: str):
    assert words(fold(text)) == words(fold(fold(text)))


def test_mistyped_word_is_mended_by_the_nearest_known_ones():
    spelling = Spelling(["calculator", "calendar", "router"])
    assert list(spelling.near("calclator")) == ["calculator"]
    assert list(spelling.near("roter")) == ["router"]
    assert list(spelling.near("calcu")) == ["calculator"]
    assert spelling.near("xyz") == spelling.near("qqqqqqq") == {}


def test_words_run_together_are_taken_apart():
    assert Spelling(["web", "scraper", "page"]).parts("webscraper") == ("web", "scraper")
    assert Spelling(["web"]).parts("website") is None


def test_words_of_other_languages_are_translated_with_their_endings():
    assert translations("arquivos") == ("file",)
    assert "search" in translations("pesquisando")
    assert "database" in translations("datenbankabfrage")
    assert translations("bicycle") == ()


def test_synonyms_go_both_ways():
    assert stem("grab") in synonyms()[stem("fetch")]
    assert stem("fetch") in synonyms()[stem("grab")]


def test_entries_are_read_with_their_further_lines():
    assert entries("# note\na: one;\n  two\n\nb: three\n") == {"a": "one; two", "b": "three"}


def test_no_paraphrase_is_given_twice_for_one_component():
    for name, said in paraphrases().items():
        assert len(said) == len(set(said)), name
