"""Bundles that can be installed: what is known of them, and when a search names one."""

import pytest

from flows.bundles import bundle_index
from flows.catalogue import Catalogue
from flows.search.limits import relevant
from runtime.install.bundles import package_name, requirement


def offered(catalogue: Catalogue, query: str) -> list[str]:
    """The bundles that a search names beside what is installed."""
    index = bundle_index()
    found = index.search(query, catalogue, relevant(catalogue.search(query, 6), query))
    return [bundle.name for match in found if (bundle := index.bundle_of(match.type)) is not None]


def test_every_type_has_a_bundle_with_a_requirement_and_ports() -> None:
    index = bundle_index()
    assert len(index.types) > 150
    for one in index.types:
        bundle = index.bundle_of(one.type)
        assert bundle is not None
        assert requirement(bundle.requirement) == bundle.requirement
        assert package_name(bundle.requirement).startswith("lfx-")
        assert bundle.size_mb is None or bundle.size_mb >= 0
        assert one.type.startswith(f"ext:{bundle.name}:")
        assert index.types.describe(one.type)


@pytest.mark.parametrize(
    ("query", "bundle"),
    [
        ("send a slack message", "slack"),
        ("store vectors in Chroma", "chroma"),
        ("search arxiv papers", "arxiv"),
        ("a pinecone vector store", "pinecone"),
        ("read youtube transcripts", "youtube"),
    ],
)
def test_a_search_names_the_bundle_when_the_query_names_it(catalogue: Catalogue, query: str, bundle: str) -> None:
    assert offered(catalogue, query)[0] == bundle


def test_a_search_names_what_does_it_when_nothing_installed_does(catalogue: Catalogue) -> None:
    assert "jigsawstack" in offered(catalogue, "generate images")


@pytest.mark.parametrize(
    "query",
    [
        "split text",
        "vector store",
        "an agent with memory",
        "call a web service",
        "redistribute rows to an agent",
        "chat model",
        "read a file",
        "search the web",
        "telegram message",
    ],
)
def test_a_search_names_no_bundle_when_what_is_installed_will_do(catalogue: Catalogue, query: str) -> None:
    assert offered(catalogue, query) == []


def test_a_type_is_missing_only_until_it_is_installed(catalogue: Catalogue) -> None:
    index = bundle_index()
    slack = next(one for one in index.types if one.type.startswith("ext:slack:"))
    assert index.find(slack.type, catalogue) is slack
    assert [bundle.name for bundle in index.needed([slack.type, "ChatInput", "Nothing"], catalogue)] == ["slack"]
    whole = index.with_missing([slack.type], catalogue)
    assert whole.get(slack.type) is slack
    assert whole.get("ChatInput") is not None
    assert index.find(slack.type, whole) is None
    assert index.needed([slack.type], whole) == []


def test_a_type_that_nobody_knows_is_in_no_bundle(catalogue: Catalogue) -> None:
    assert bundle_index().find("ext:nowhere:Nothing@official", catalogue) is None
    assert bundle_index().bundle_of("ChatInput") is None
