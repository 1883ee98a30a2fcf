"""Laws of the translation: what a model says comes back as it was, whole, in pieces, and in the next request."""

import asyncio
import json
from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from flows.document import JsonObject
from flows.json_values import as_list, as_object, as_text
from runtime.gateway.decoding import messages_of
from runtime.gateway.encoding import Chunks, completion
from runtime.gateway.requests import AssistantMessage, Message

MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
names = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)
arguments = st.dictionaries(names, st.one_of(st.integers(), st.booleans(), words, st.none()), max_size=3)


@st.composite
def responses(draw: st.DrawFn) -> ModelResponse:
    text = draw(st.one_of(st.none(), words))
    calls = draw(st.lists(st.tuples(names, arguments, st.booleans()), max_size=3))
    parts: list[TextPart | ToolCallPart] = [] if text is None else [TextPart(text)]
    for number, (name, values, whole) in enumerate(calls):
        parts.append(ToolCallPart(name, values if whole else json.dumps(values), f"call_{number}"))
    return ModelResponse(parts=parts or [TextPart("")])


def said(response: ModelResponse) -> tuple[str, list[tuple[str, str, JsonObject]]]:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    return text, [(part.tool_call_id, part.tool_name, part.args_as_dict()) for part in calls]


@given(responses())
def test_an_answer_read_back_is_the_answer(response: ModelResponse) -> None:
    choice = as_object(as_list(completion(response, "m")["choices"])[0])
    message = MESSAGE.validate_json(json.dumps(choice["message"]))
    assert isinstance(message, AssistantMessage)
    [again] = messages_of([message])
    assert isinstance(again, ModelResponse)
    assert said(again) == said(response)
    assert (choice["finish_reason"] == "tool_calls") is bool(said(response)[1])


def streaming(response: ModelResponse, size: int) -> FunctionModel:
    """A model that says a response in pieces of at most `size` characters."""

    async def stream(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        for index, part in enumerate(response.parts):
            if isinstance(part, TextPart):
                for start in range(0, max(1, len(part.content)), size):
                    yield part.content[start : start + size]
            elif isinstance(part, ToolCallPart):
                written = part.args_as_json_str()
                yield {index: DeltaToolCall(part.tool_name, written[:size], tool_call_id=part.tool_call_id)}
                for start in range(size, len(written), size):
                    yield {index: DeltaToolCall(json_args=written[start : start + size])}

    return FunctionModel(stream_function=stream)


async def chunks_of(response: ModelResponse, size: int) -> list[JsonObject]:
    request = ModelRequest(parts=[UserPromptPart("go")])
    chunks = Chunks("m")
    async with model_request_stream(streaming(response, size), [request]) as stream:
        made = [chunk async for chunk in chunks.of(stream)]
        return [*made, *chunks.rest(stream.get(), include_usage=False)]


@given(responses(), st.integers(1, 9))
def test_the_pieces_of_an_answer_make_the_answer(response: ModelResponse, size: int) -> None:
    text, ids, called, written = "", dict[int, str](), dict[int, str](), dict[int, str]()
    chunks = asyncio.run(chunks_of(response, size))
    for chunk in chunks:
        delta = as_object(as_object(as_list(chunk["choices"])[0])["delta"])
        text += as_text(delta.get("content"))
        for call in map(as_object, as_list(delta.get("tool_calls"))):
            index, function = call["index"], as_object(call["function"])
            assert isinstance(index, int)
            ids.setdefault(index, as_text(call.get("id")))
            called.setdefault(index, as_text(function.get("name")))
            written[index] = written.get(index, "") + as_text(function.get("arguments"))
    calls = [(ids[index], called[index], json.loads(written[index])) for index in sorted(ids)]
    assert (text, calls) == said(response)
    assert {as_text(chunk["id"]) for chunk in chunks} == {as_text(chunks[0]["id"])}


@given(st.lists(st.one_of(words.map(lambda text: ("user", text)), words.map(lambda text: ("assistant", text)))))
def test_a_conversation_keeps_its_words_and_their_order(turns: list[tuple[str, str]]) -> None:
    wire = [MESSAGE.validate_python({"role": role, "content": text}) for role, text in turns]
    heard: list[tuple[str, str]] = []
    for message in messages_of(wire):
        role = "user" if isinstance(message, ModelRequest) else "assistant"
        for part in message.parts:
            assert isinstance(part, UserPromptPart | TextPart)
            heard.append((role, str(part.content)))
    assert heard == turns
