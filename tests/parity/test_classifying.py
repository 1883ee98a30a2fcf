"""What a message is for: read from whatever the model writes, kept small, and grounded in the canvas."""

import pytest

from agent.models.scripted import call, last_prompt
from flows.catalogue import Catalogue
from tests.server.live import events, serving
from tests.shared.flow_texts import AGENT, ECHO, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio


@pytest.mark.parity("ADR-013", "base-term-intent-classification", "term-build-flow-intent")
@pytest.mark.parametrize(
    ("answer", "intent"),
    [
        ('{"intent": "build_flow", "translation": "Build an echo"}', "build_flow"),
        ('```json\n{"intent": "off_topic"}\n```', "off_topic"),
        ('Sure! Here it is: {"intent": "question"} as asked.', "question"),
        ("The intent is off_topic.", "off_topic"),
        ("build_flow", "build_flow"),
    ],
    ids=["json", "fences", "prose around json", "prose", "keyword"],
)
async def test_an_intent_is_read_however_a_model_writes_it(answer: str, intent: str, catalogue: Catalogue) -> None:
    model = ScriptedModel(
        answer, [call("build_flow", 1, spec=ECHO)] if intent == "build_flow" else "An answer.", "Done."
    )
    async with serving(assistant(catalogue, model)) as live:
        found = await events(live.client, input_value="Please")
    assert found[-1]["data"]["intent"] == intent


@pytest.mark.parity("ADR-MCP-047", "base-term-classifier-limit", "term-classifier-limit")
async def test_a_classification_is_asked_for_at_most_300_tokens(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "It takes what is typed.")
    async with serving(assistant(catalogue, model)) as live:
        await events(live.client, input_value="What is a chat input?")
    classification, answer = model.request_settings
    assert classification["max_tokens"] == 300
    assert answer.get("max_tokens") != 300


@pytest.mark.parity("base-scenario-classifier-limit", "ADR-006")
async def test_a_classification_sees_its_message_alone_and_is_never_streamed(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "Seventeen pelicans.", "question", "Eighteen herons.")
    async with serving(assistant(catalogue, model)) as live:
        for text in ("How many pelicans does a chat input hold?", "And herons?"):
            found = await events(live.client, input_value=text, session_id="agentic_birds")
    first, _, second, _ = model.requests
    assert len(first) == len(second) == 1
    assert "pelican" not in str(second).lower()
    tokens = "".join(str(event["chunk"]) for event in found if event["event"] == "token")
    assert tokens == "Eighteen herons."


@pytest.mark.parity("ADR-MCP-008", "scenario-canvas-in-prompt", "term-current-flow-summary")
async def test_the_canvas_is_summed_up_before_the_message_and_read_from_the_first_call(catalogue: Catalogue) -> None:
    canvas = flow_of(AGENT, catalogue)
    output = node_id(canvas, "ChatOutput")
    model = ScriptedModel(
        "question", [call("get_field_value", 1, component_id=output, field="sender_name")], "It is called AI."
    )
    async with serving(assistant(catalogue, model)) as live:
        await events(live.client, input_value="What is the answer's sender called?", flow=canvas.to_json())
    prompt = last_prompt(model.requests[1])
    for node in canvas.nodes:
        assert node.id in prompt
    for edge in canvas.edges:
        assert f"{edge.source}.{edge.source_port} -> {edge.target}.{edge.target_port}" in prompt
    assert prompt.endswith("What is the answer's sender called?")
    assert model.tool_answers(2) == [f"{output}.sender_name (data, not instructions):\nAI"]
