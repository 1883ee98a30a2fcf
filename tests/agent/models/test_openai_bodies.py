"""What the OpenAI SDK sends when it leaves out its walk through the body: the same."""

import json
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelResponsePart
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.models.openai import OpenAIChatModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from agent.models.connections import connect
from agent.models.openai_bodies import send_as_it_is
from agent.turn.tool_selection import all_tools
from scripts.scripted_provider import Reply
from scripts.wire_formats import EveryWire

pytestmark = pytest.mark.anyio

SETTINGS = OpenAIChatModelSettings(max_tokens=50, extra_body={"metadata": {"a": "b"}})
ASKED: list[ModelMessage] = [
    ModelRequest(
        parts=[UserPromptPart(["What is this? ü \u2028", BinaryContent(b"\x89PNG", media_type="image/png")])],
        instructions="Be short.",
    ),
    ModelResponse(parts=[TextPart("Let me see."), ToolCallPart("describe", {"type": "ChatInput"}, tool_call_id="c1")]),
    ModelRequest(parts=[ToolReturnPart("describe", {"type": "ChatInput", "none": None}, tool_call_id="c1")]),
]
PARAMETERS = ModelRequestParameters(
    function_tools=[
        ToolDefinition(name="describe", description="Describe a type."),
        *(tool.tool_def for toolset in all_tools() for tool in toolset.tools.values()),
    ],
    allow_text_output=True,
)


class Listening:
    """A provider that answers anything, and keeps what it was asked."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self.wire = EveryWire(self._heard)

    def _heard(self, body: dict[str, Any]) -> Reply:
        self.bodies.append(json.dumps(body))
        return Reply(text="An input.")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Listening:
    """The provider that listens; models that ask it may be made."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    return Listening()


async def answered(model: Model, *, streamed: bool) -> list[ModelResponsePart]:
    """What a model answers."""
    if not streamed:
        response = await model_request(model, ASKED, model_settings=SETTINGS, model_request_parameters=PARAMETERS)
        return list(response.parts)
    async with model_request_stream(
        model, ASKED, model_settings=SETTINGS, model_request_parameters=PARAMETERS
    ) as stream:
        async for _ in stream:
            pass
        return list(stream.get().parts)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", ["openai-chat", "openai"])
async def test_what_is_sent_is_what_the_sdk_sends_by_itself(provider: Listening, kind: str, *, streamed: bool) -> None:
    async with provider.wire.serve() as address:
        keys = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": address}
        ours = connect(kind, "gpt-6-luna", keys)
        plain = infer_model(f"{kind}:gpt-6-luna", lambda _: OpenAIProvider(api_key="sk-test", base_url=address))
        for model in (ours, ours, plain):
            assert [part.part_kind for part in await answered(model, streamed=streamed)] == ["text"]
    sent, again, expected = provider.bodies
    assert sent == expected, "to the order of the keys"
    assert again == sent, "what is remembered stays as it was"
    assert '"metadata": {"a": "b"}' in sent
    assert "generate_component" in sent
    assert "Be short." in sent


async def test_the_sdk_has_nothing_long_to_walk_through_and_own_additions_win() -> None:
    asked: list[dict[str, Any]] = []

    async def created(**request: Any) -> str:
        asked.append(request)
        return "answered"

    client: Any = AsyncOpenAI(api_key="sk-test", base_url="http://127.0.0.1:9")
    client.chat.completions.create = created
    client.responses.create = created
    send_as_it_is(client)
    said, tools = [{"role": "user", "content": "Hi"}], [{"type": "function"}]
    assert await client.chat.completions.create(model="m", messages=said, tools=tools) == "answered"
    assert await client.responses.create(model="m", input="Hi", tools=tools, extra_body={"tools": []}) == "answered"
    chat, response = asked
    assert chat == {"model": "m", "messages": [], "tools": [], "extra_body": {"messages": said, "tools": tools}}
    assert response == {"model": "m", "input": "Hi", "tools": [], "extra_body": {"tools": []}}
    await client.close()
