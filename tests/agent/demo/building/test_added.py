"""A step that a message adds by saying what it does, in eight languages."""

from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from runtime.install.environment import RunnerEnvironment
from tests.agent.demo.first_messages import canvas
from tests.agent.demo.test_edits import ask
from tests.shared.yaml_files import read_yaml

pytestmark = [pytest.mark.engine, pytest.mark.anyio]

STEPS: dict[str, dict[str, str]] = read_yaml(Path(__file__).with_name("added_steps.yaml"))
CASES = [(does, language) for does, messages in STEPS.items() for language in messages]


@pytest.fixture(scope="module")
def whole(runner_environment: RunnerEnvironment) -> Catalogue:
    return Catalogue.load(runner_environment.catalogue)


@pytest.mark.table
@pytest.mark.parametrize(("does", "language"), CASES)
async def test_a_step_does_with_the_answer_what_the_message_says(whole: Catalogue, does: str, language: str) -> None:
    message = STEPS[does][language]
    before = canvas("chatbot", whole)
    flow = (await ask(whole, message, before)).flow
    known = {node.id for node in before.nodes}
    new = {node.type: node for node in flow.nodes if node.id not in known}
    assert set(new) == {"Prompt Template", "LanguageModelComponent"}
    prompt, model = new["Prompt Template"], new["LanguageModelComponent"]
    [output] = [node.id for node in flow.nodes if node.type == "ChatOutput"]
    [old] = [node.id for node in before.nodes if node.type == "LanguageModelComponent"]
    assert [edge.source for edge in flow.edges if edge.target == output] == [model.id]
    assert [edge.source for edge in flow.edges if edge.target == model.id] == [prompt.id]
    assert [edge.source for edge in flow.edges if edge.target == prompt.id] == [old]
    template = str(prompt.value("template"))
    assert "{text}" in template
    assert {"summarise": "Summarise", "translate": "Translate"}.get(does, "") in template
    assert model.value("model")


def test_every_step_is_asked_for_in_every_language() -> None:
    assert {tuple(messages) for messages in STEPS.values()} == {("en", "de", "fr", "es", "pt", "it", "ja", "zh")}
