"""Chat completions over the real wire: what the client's SDK sends reaches the model, and the answer comes back."""

import base64
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel
from pydantic_ai import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.usage import RequestUsage

from agent.models.scripted import scripted
from tests.runtime.gateway.words import NAME, Connect, OpenSession

if TYPE_CHECKING:
    from openai import AsyncOpenAI

pytestmark = pytest.mark.anyio

USER: list[Any] = [{"role": "user", "content": "hello"}]
ADD: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds.",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        "strict": True,
    },
}


class Listening:
    """A scripted model that remembers the last request."""

    def __init__(self, *parts: TextPart | ToolCallPart) -> None:
        self.parts = parts
        self.messages: list[ModelMessage] = []
        self.info: AgentInfo | None = None
        self.model = scripted(self._answer, "scripted")

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.messages, self.info = messages, info
        return ModelResponse(parts=list(self.parts), usage=RequestUsage(input_tokens=11, output_tokens=7))

    @property
    def asked(self) -> AgentInfo:
        assert self.info is not None
        return self.info


@pytest.fixture
def listen(opened: OpenSession, connect: Connect) -> "Callable[..., tuple[Listening, AsyncOpenAI]]":
    def make(*parts: TextPart | ToolCallPart) -> "tuple[Listening, AsyncOpenAI]":
        model = Listening(*parts)
        return model, connect(opened(model.model))

    return make


Listen = Callable[..., "tuple[Listening, AsyncOpenAI]"]


async def test_an_answer_comes_back_with_its_usage(listen: Listen) -> None:
    _, client = listen(TextPart("good day"))
    answer = await client.chat.completions.create(model=NAME, messages=USER)
    assert answer.choices[0].message.content == "good day"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model == NAME
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (11, 7, 18)


async def test_the_conversation_reaches_the_model_with_tool_calls_and_results(listen: Listen) -> None:
    model, client = listen(TextPart("3"))
    await client.chat.completions.create(
        model=NAME,
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "1 + 2?"}]},
            {
                "role": "assistant",
                "content": "I add.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}},
                    {"id": "c2", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}},
                ],
            },
            {"role": "tool", "tool_call_id": "c2", "content": "two"},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "one"}]},
        ],
        tools=[ADD],
    )
    first, second, third = model.messages
    assert isinstance(first, ModelRequest)
    system, user = first.parts
    assert isinstance(system, SystemPromptPart)
    assert system.content == "Be brief."
    assert isinstance(user, UserPromptPart)
    assert list(user.content) == ["1 + 2?"]
    assert second.parts == [
        TextPart("I add."),
        ToolCallPart("add", '{"a": 1}', "c1"),
        ToolCallPart("add", '{"a": 2}', "c2"),
    ]
    results = [part for part in third.parts if isinstance(part, ToolReturnPart)]
    assert [(part.tool_name, part.tool_call_id, part.content) for part in results] == [
        ("add", "c2", "two"),
        ("add", "c1", "one"),
    ]
    [tool] = model.asked.function_tools
    assert (tool.name, tool.description, tool.strict) == ("add", "Adds.", True)
    assert tool.parameters_json_schema == ADD["function"]["parameters"]


async def test_parallel_tool_calls_keep_their_ids_and_order(listen: Listen) -> None:
    _, client = listen(ToolCallPart("add", {"a": 1}, "x1"), ToolCallPart("add", '{"a":2}', "x2"))
    answer = await client.chat.completions.create(model=NAME, messages=USER, tools=[ADD])
    choice = answer.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    calls = choice.message.tool_calls or []
    assert [(call.id, call.type) for call in calls] == [("x1", "function"), ("x2", "function")]
    assert [json.loads(call.function.arguments) for call in calls if call.type == "function"] == [{"a": 1}, {"a": 2}]


async def test_a_streamed_answer_is_the_whole_one_in_pieces(listen: Listen) -> None:
    words = "one two three four five six seven eight nine ten eleven twelve thirteen"
    _, client = listen(TextPart(words), ToolCallPart("add", {"a": 1}, "x1"), ToolCallPart("add", {"a": 2}, "x2"))
    pieces = [
        chunk
        async for chunk in await client.chat.completions.create(
            model=NAME, messages=USER, stream=True, stream_options={"include_usage": True}
        )
    ]
    texts = [piece.choices[0].delta.content for piece in pieces if piece.choices and piece.choices[0].delta.content]
    assert len(texts) > 1
    assert "".join(texts) == words
    arguments: dict[int, str] = {}
    ids: dict[int, str | None] = {}
    for piece in pieces:
        for call in (piece.choices[0].delta.tool_calls or []) if piece.choices else []:
            assert call.function is not None
            ids.setdefault(call.index, call.id)
            arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    assert ids == {0: "x1", 1: "x2"}
    assert [json.loads(text) for text in arguments.values()] == [{"a": 1}, {"a": 2}]
    assert pieces[-2].choices[0].finish_reason == "tool_calls"
    assert pieces[-1].usage is not None
    assert pieces[-1].choices == []


async def test_a_stream_tells_no_usage_unless_asked(listen: Listen) -> None:
    _, client = listen(TextPart("hi"))
    pieces = [piece async for piece in await client.chat.completions.create(model=NAME, messages=USER, stream=True)]
    assert all(piece.usage is None and piece.choices for piece in pieces)


async def test_how_to_answer_reaches_the_model(listen: Listen) -> None:
    model, client = listen(TextPart("hi"))
    await client.chat.completions.create(
        model=NAME,
        messages=USER,
        temperature=0.25,
        top_p=0.5,
        max_completion_tokens=40,
        stop=["END"],
        seed=7,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        logit_bias={"50256": -100},
        tools=[ADD],
        parallel_tool_calls=False,
        tool_choice="auto",
        user="ignored",
    )
    assert model.asked.model_settings == snapshot(
        {
            "temperature": 0.25,
            "top_p": 0.5,
            "max_tokens": 40,
            "stop_sequences": ["END"],
            "seed": 7,
            "presence_penalty": 0.1,
            "frequency_penalty": 0.2,
            "logit_bias": {"50256": -100},
            "parallel_tool_calls": False,
        }
    )


@pytest.mark.parametrize(
    ("choice", "setting", "text"),
    [
        ("none", "none", True),
        ("required", "required", False),
        ({"type": "function", "function": {"name": "add"}}, ["add"], False),
    ],
)
async def test_the_choice_of_a_tool_reaches_the_model(choice: Any, setting: Any, text: bool, listen: Listen) -> None:
    model, client = listen(TextPart("hi"))
    await client.chat.completions.create(model=NAME, messages=USER, tools=[ADD], tool_choice=choice)
    assert model.asked.model_settings == {"tool_choice": setting}
    assert model.asked.allow_text_output is text


class Person(BaseModel):
    name: str
    age: int


async def test_a_schema_reaches_the_model_and_its_answer_is_read_by_it(listen: Listen) -> None:
    model, client = listen(TextPart('{"name": "Ada", "age": 36}'))
    answer = await client.chat.completions.parse(model=NAME, messages=USER, response_format=Person)
    assert answer.choices[0].message.parsed == Person(name="Ada", age=36)
    asked = model.asked.model_request_parameters
    assert asked.output_mode == "native"
    assert asked.output_object is not None
    assert asked.output_object.name == "Person"
    assert set(asked.output_object.json_schema["properties"]) == {"name", "age"}


async def test_a_model_that_knows_no_schemas_is_asked_for_one_in_words(opened: OpenSession, connect: Connect) -> None:
    model = Listening(TextPart('{"name": "Ada", "age": 36}'))
    plain = scripted(model._answer, "plain")
    plain._profile = ModelProfile(supports_json_schema_output=False)
    await connect(opened(plain)).chat.completions.parse(model=NAME, messages=USER, response_format=Person)
    assert model.asked.model_request_parameters.output_mode == "prompted"
    assert "age" in (model.asked.instructions or "")


async def test_any_json_object_may_be_asked_for(listen: Listen) -> None:
    model, client = listen(TextPart("{}"))
    await client.chat.completions.create(model=NAME, messages=USER, response_format={"type": "json_object"})
    assert model.asked.model_request_parameters.output_mode == "prompted"


async def test_an_image_reaches_the_model_as_its_data(listen: Listen) -> None:
    model, client = listen(TextPart("a dot"))
    address = "data:image/png;base64," + base64.b64encode(b"png").decode()
    content: list[Any] = [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": address}}]
    await client.chat.completions.create(model=NAME, messages=[{"role": "user", "content": content}])
    [part] = model.messages[0].parts
    assert isinstance(part, UserPromptPart)
    assert list(part.content) == ["what?", BinaryContent(b"png", media_type="image/png")]


async def test_a_cut_answer_says_so(opened: OpenSession, connect: Connect) -> None:
    def plan(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("and then")], finish_reason="length")

    answer = await connect(opened(scripted(plan, "s"))).chat.completions.create(model=NAME, messages=USER)
    assert answer.choices[0].finish_reason == "length"


async def test_embeddings_come_back_as_numbers_or_packed(listen: Listen) -> None:
    _, client = listen()
    packed = await client.embeddings.create(model=NAME, input=["a", "b"])
    plain = await client.embeddings.create(model=NAME, input="a", encoding_format="float", dimensions=4)
    assert [item.embedding for item in packed.data] == [[1.0] * 8, [1.0] * 8]
    assert len(plain.data) == 1
    assert packed.usage.prompt_tokens > 0


async def test_a_run_sees_the_models_that_its_flow_names(listen: Listen) -> None:
    _, client = listen()
    assert [model.id async for model in client.models.list()] == [NAME]
