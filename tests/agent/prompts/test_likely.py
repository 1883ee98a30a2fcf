"""What the prompt of a new flow offers: components of any provider, and templates whose needs can be met."""

import re

import pytest

from agent.prompts.framing import likely_components
from flows.catalogue import Catalogue
from flows.templates import fitting, template, templates


def test_a_component_of_any_provider_stands_for_one_of_a_single_provider(catalogue: Catalogue) -> None:
    request = "Make a flow that reads the web page typed in the chat and summarises it in one sentence"
    heads = [text.partition(" ")[0] for text in likely_components(request, catalogue)]
    assert "LanguageModelComponent" in heads
    assert not [head for head in heads if head.startswith("ext:")]


@pytest.mark.parametrize("request_text", ["answer questions about our handbook", "answer questions about a pdf"])
def test_templates_that_need_what_there_is_not_are_left_out(request_text: str) -> None:
    assert [one.name for one in fitting(request_text)] == ["document-questions", "rag"]
    assert [one.name for one in fitting(request_text, without={"embeddings"})] == ["document-questions"]


def test_the_nodes_of_a_template_are_named_so_that_a_change_can_name_them() -> None:
    assert template("document-questions").nodes[:2] == (("chat", "ChatInput"), ("document", "File"))


def test_templates_leave_their_models_open() -> None:
    pinned = [one.name for one in templates() if re.search(r"(?m)^\s*\w+\.model: ", one.spec)]
    assert pinned == [], "they run with the assistant's own model, whichever provider is configured"
