"""A provider on loopback that gives one error reply, and where each provider's client is pointed at it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from runtime.web.server import Server


class Answering:
    """Answers every request with the same reply, and counts them."""

    def __init__(self) -> None:
        self.requests = 0
        self._reply: tuple[int, Any, dict[str, str]] = (500, {}, {})
        self.app = Starlette(routes=[Route("/{path:path}", self._answer, methods=["POST", "GET"])])

    def reply(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        """Set the reply."""
        self._reply = (status, body, headers or {})

    async def _answer(self, request: Request) -> Response:
        await request.body()
        self.requests += 1
        status, body, headers = self._reply
        return JSONResponse(body, status, headers)

    @asynccontextmanager
    async def serve(self) -> AsyncGenerator[str]:
        """Serve on loopback; yields the address."""
        config = uvicorn.Config(self.app, host="127.0.0.1", port=0, log_level="error", lifespan="off", log_config=None)
        server = Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110  (uvicorn has no event for it)
            await asyncio.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        finally:
            server.stop()
            await serving


def addressed(provider: str, address: str) -> Mapping[str, str]:
    """The environment in which a provider is available, at an address of this machine."""
    return {
        "openai": {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{address}/v1"},
        "openai-chat": {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{address}/v1"},
        "anthropic": {"ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_BASE_URL": address},
        "google": {"GOOGLE_API_KEY": "AIzaTest", "GOOGLE_GEMINI_BASE_URL": address},
        "groq": {"GROQ_API_KEY": "gsk_test", "GROQ_BASE_URL": address},
        "mistral": {"MISTRAL_API_KEY": "test", "MISTRAL_BASE_URL": address},
        "openrouter": {"OPENROUTER_API_KEY": "sk-or-test", "OPENROUTER_BASE_URL": f"{address}/v1"},
        "azure": {"AZURE_OPENAI_API_KEY": "test", "AZURE_OPENAI_ENDPOINT": address},
        "bedrock": {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": address,
        },
        "ollama": {"OLLAMA_BASE_URL": f"{address}/v1"},
        "openai-compatible": {"OPENAI_COMPATIBLE_BASE_URL": f"{address}/v1"},
    }[provider]
