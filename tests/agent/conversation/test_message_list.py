"""Messages in our models: they survive JSON, are not copied schemas, and refuse what is no message."""

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_ai import BinaryContent, ModelRequest, ModelResponse, TextPart, UserPromptPart

from agent.conversation.message_list import MessageList


class Kept(BaseModel):
    messages: MessageList


MESSAGES = [
    ModelRequest(parts=[UserPromptPart(content=["look", BinaryContent(b"\xff\x00\xfe", media_type="image/png")])]),
    ModelResponse(parts=[TextPart(content="seen")]),
]


def test_messages_survive_json_when_they_hold_bytes() -> None:
    read = Kept.model_validate_json(Kept(messages=MESSAGES).model_dump_json()).messages
    prompt = read[0].parts[0]
    assert isinstance(prompt, UserPromptPart)
    assert [item.data for item in prompt.content if isinstance(item, BinaryContent)] == [b"\xff\x00\xfe"]
    assert read[1] == MESSAGES[1]


def test_messages_stay_what_they_are_when_they_are_given_as_objects() -> None:
    assert Kept(messages=MESSAGES).messages == MESSAGES
    assert Kept(messages=[]).model_dump() == {"messages": []}


@pytest.mark.parametrize("wrong", [["text"], "text", [{"kind": "unknown"}], [*MESSAGES, 1]])
def test_anything_else_is_refused_when_it_is_no_message(wrong: object) -> None:
    with pytest.raises(ValidationError):
        Kept.model_validate({"messages": wrong})
