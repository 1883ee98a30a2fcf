"""A server whose model never answers, as a program of its own: what it says on standard output is for the test."""

import asyncio
from collections.abc import AsyncIterator

from pydantic_ai import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, DeltaToolCalls, FunctionModel

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from server.serve import serve
from server.settings import ServerSettings
from tests.stand_ins import StandInRunner


async def never(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
    """Wait for good."""
    await asyncio.Event().wait()
    raise AssertionError


async def silence(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    """Wait for good."""
    await asyncio.Event().wait()
    yield ""


def main() -> None:
    """Serve on the port that the environment says."""
    model = FunctionModel(never, stream_function=silence, model_name="never")
    settings = ServerSettings()
    catalogue = Catalogue({})
    serve(settings, assistant=Assistant(settings, StandInRunner(), catalogue=catalogue, model=model))


if __name__ == "__main__":
    main()
