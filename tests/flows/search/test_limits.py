"""What no component does is said, and what has nothing to do with a query is not offered."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from flows.catalogue import Catalogue
from flows.component_type import Match
from flows.search.limits import limits_of, relevant

QUERIES = Path(__file__).parents[1] / "data" / "queries.yaml"

IMPOSSIBLE = {
    "export the report as PDF": "PDF",
    "create a pdf with the summary": "PDF",
    "save it as a docx file": "Word",
    "make a powerpoint of it": "PowerPoint",
    "generate an image of a cat": "images",
    "text to speech": "sound",
    "transcribe my podcast": "sound",
    "cut a video": "video",
    "send an email to my boss": "mail",
    "e-mail me the result": "mail",
    "post it to slack": "chat service",
    "add it to my google calendar": "service",
    "a chart of the sales": "charts",
    "error handling": "errors",
    "try/catch around the request": "errors",
    "click on the button of a website": "browser",
}
POSSIBLE = [
    "read a pdf",
    "answer questions about this pdf",
    "turn a pdf into text",
    "summarize a docx",
    "ask an agent",
    "write a poem",
    "save the table as csv",
    "if else",
    "call an api",
    "extract mail addresses from text",
    "describe the picture that I attach",
    "a graph of three nodes",
    "route by tone",
    "split text into chunks",
]


def expectations() -> Iterator[tuple[str, list[str]]]:
    for part in yaml.safe_load(QUERIES.read_text(encoding="utf-8")).values():
        if isinstance(part, dict):
            for query, types in part.items():
                yield str(query), [types] if isinstance(types, str) else list(types)


@pytest.mark.parametrize(("request_text", "word"), IMPOSSIBLE.items())
def test_what_no_component_does_is_said(request_text: str, word: str, catalogue: Catalogue) -> None:
    assert any(word in says for says in limits_of(request_text, catalogue)), limits_of(request_text, catalogue)


@pytest.mark.parametrize("request_text", POSSIBLE)
def test_what_can_be_done_has_no_limit(request_text: str, catalogue: Catalogue) -> None:
    assert limits_of(request_text, catalogue) == []


def test_a_component_that_does_it_after_all_takes_the_limit_away(catalogue: Catalogue) -> None:
    sender = next(iter(catalogue))
    assert limits_of("send an email", [sender])
    mailing = replace(sender, raw={**sender.raw, "display_name": "Gmail sender"}, type="Gmail")
    assert limits_of("send an email", [sender, mailing]) == []


@pytest.mark.parametrize("query", ["error handling", "make coffee", "quantum entanglement"])
def test_what_has_nothing_to_do_with_a_query_is_not_offered(query: str, catalogue: Catalogue) -> None:
    assert relevant(catalogue.search(query, 6), query) == []


def test_right_answers_pass_the_threshold(catalogue: Catalogue) -> None:
    found = [(query, types, catalogue.search(query, 6)) for query, types in expectations()]
    right = [(query, types, all_) for query, types, all_ in found if any(match.type in types for match in all_)]
    lost = [query for query, types, all_ in right if not any(match.type in types for match in relevant(all_, query))]
    assert len(lost) <= 0.02 * len(right), lost
    offered = sum(len(relevant(all_, query)) for query, _, all_ in right) / len(right)
    assert offered < 3.5, "of six"


def test_no_matches_stay_none() -> None:
    assert relevant(list[Match](), "anything") == []
