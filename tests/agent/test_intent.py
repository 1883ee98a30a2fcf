"""Reading the classifier's answer."""

import pytest
from pydantic_ai import ModelResponse, TextPart
from pydantic_ai.usage import RunUsage

from agent.intent import classify, read_label
from agent.scripted import scripted


@pytest.mark.parametrize(
    ("answer", "intent"),
    [
        ("action", "action"),
        ("Question.", "question"),
        ('```json\n{"intent": "off_topic"}\n```', "off_topic"),
        ("This is off-topic, I think.", "off_topic"),
        ("The label is: off topic", "off_topic"),
        ("no idea", "action"),
        ("", "action"),
    ],
)
def test_the_label_is_found_whatever_surrounds_it(answer: str, intent: str) -> None:
    assert read_label(answer) == intent


@pytest.mark.anyio
async def test_an_empty_message_asks_no_model() -> None:
    def fails(*_: object) -> ModelResponse:
        raise AssertionError("no model may be asked")

    assert await classify("  \n", scripted(fails, "silent"), RunUsage()) == "question"


@pytest.mark.anyio
async def test_the_classifier_is_paid_for() -> None:
    usage = RunUsage()
    model = scripted(lambda *_: ModelResponse(parts=[TextPart("question")]), "classifier")
    assert await classify("What is a prompt?", model, usage) == "question"
    assert usage.requests == 1
    assert usage.output_tokens > 0
