"""`apply: always` approves plans and edits, never what sends something out or replaces a secret."""

import json
from typing import Any

import pytest
from pydantic_ai import ToolApproved

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from tests.attacks.world import CANVAS
from tests.shared.flow_texts import node_id
from tests.shared.scripted_assistant import play, scripted_assistant
from tools.approvals import OutboundApproval, SecretApproval

pytestmark = pytest.mark.anyio

READ = json.dumps({"intent": "build_flow", "mandate": {"edit": ["prompt template"]}})


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    flow = build(CANVAS, catalogue).flow
    assert flow is not None
    return flow


def configured(canvas: Flow, type: str, **values: object) -> Any:
    """A call that sets values of the first component of a type."""
    return call("configure_component", 1, component_id=node_id(canvas, type), values=values)


async def test_a_text_is_replaced_at_once(catalogue: Catalogue, canvas: Flow) -> None:
    who, _ = scripted_assistant(
        catalogue, READ, configured(canvas, "Prompt Template", template="Hi {question} {history}"), "Done."
    )
    result = await play(who, "Shorten the prompt template", canvas, apply="always")
    assert ([action.kind for action in result.actions], dict(result.approvals)) == (["configure"], {})


async def test_a_text_with_a_new_host_is_a_question_and_only_its_yes_sets_it(
    catalogue: Catalogue, canvas: Flow
) -> None:
    change = configured(canvas, "APIRequest", url_input="https://collector.evil.example/take")
    read = json.dumps({"intent": "build_flow", "mandate": {"edit": ["API request"]}})
    who, _ = scripted_assistant(catalogue, read, change, "Done.")
    waiting = await play(who, "Change where the API request goes", canvas, apply="always")
    [question] = waiting.approvals.values()
    assert isinstance(question, OutboundApproval)
    assert (question.hosts, question.why, waiting.after) == (["collector.evil.example"], "unnamed_host", canvas)
    done = await play(who, "", canvas, answers=dict.fromkeys(waiting.approvals, ToolApproved()), apply="always")
    assert [action.kind for action in done.actions] == ["configure"]


async def test_a_text_that_the_message_does_not_ask_to_replace_is_a_question_once_others_text_was_read(
    catalogue: Catalogue, canvas: Flow
) -> None:
    change = configured(canvas, "Prompt Template", template="Be rude. {history} {question}")
    read = json.dumps({"intent": "build_flow", "mandate": {"edit": ["temperature"]}})
    who, _ = scripted_assistant(catalogue, read, change, "Done.")
    waiting = await play(who, "Lower the temperature", canvas, apply="always")
    [question] = waiting.approvals.values()
    assert (question.kind, getattr(question, "why", ""), waiting.after) == ("edit", "not_asked", canvas)
    done = await play(who, "", canvas, answers=dict.fromkeys(waiting.approvals, ToolApproved()), apply="always")
    assert [action.kind for action in done.actions] == ["configure"]


async def test_a_choice_or_number_is_changed_at_once(catalogue: Catalogue, canvas: Flow) -> None:
    who, _ = scripted_assistant(catalogue, READ, configured(canvas, "LanguageModelComponent", temperature=0.9), "Done.")
    done = await play(who, "Shorten the prompt template", canvas, apply="always")
    assert ([action.kind for action in done.actions], dict(done.approvals)) == (["configure"], {})


async def test_a_secret_is_a_question_that_names_no_value(catalogue: Catalogue, canvas: Flow) -> None:
    change = configured(canvas, "LanguageModelComponent", api_key="sk-other-1234567890abcdef")
    who, _ = scripted_assistant(catalogue, READ, change, "Done.")
    waiting = await play(who, "Shorten the prompt template", canvas, apply="always")
    [question] = waiting.approvals.values()
    assert isinstance(question, SecretApproval)
    model = node_id(canvas, "LanguageModelComponent")
    assert (question.variable, question.use, question.why) == (f"{model}.api_key", "replace", "not_asked")
    assert waiting.after == canvas
    assert "1234567890" not in question.model_dump_json() + waiting.text
    denied = await play(who, "no", canvas, apply="always")
    assert (denied.outcome, denied.after) == ("complete", canvas)


async def test_an_edit_says_that_it_was_not_asked_for(catalogue: Catalogue, canvas: Flow) -> None:
    change = configured(canvas, "LanguageModelComponent", temperature=0.9)
    who, _ = scripted_assistant(catalogue, READ, change, "Done.")
    [question] = (await play(who, "Shorten the prompt template", canvas)).approvals.values()
    assert (question.kind, getattr(question, "why", "")) == ("edit", "not_asked")
