"""A server whose model does not answer, as a program of its own: what it says on standard output is for the test.

With the variable ANSWERS_ONCE, the model answers as soon as a file of that name exists.
"""

import os

import anyio
from pydantic_ai import ModelMessage, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo

from flows.catalogue import Catalogue
from server.serve import serve
from server.settings import ServerSettings
from tests.shared.scripted_assistant import ScriptedModel, assistant


class Held(ScriptedModel):
    """A model that answers once a file exists."""

    async def _next(self, messages: list[ModelMessage], info: AgentInfo) -> list[ToolCallPart | TextPart]:
        while not await anyio.Path(os.environ["ANSWERS_ONCE"]).exists():  # noqa: ASYNC110  (another process makes it)
            await anyio.sleep(0.02)
        return await super()._next(messages, info)


def main() -> None:
    """Serve on the port that the environment says."""
    model = Held(*["off_topic"] * 9) if "ANSWERS_ONCE" in os.environ else ScriptedModel(blocks_at=0)
    serve(ServerSettings(), assistant=assistant(Catalogue({}), model))


if __name__ == "__main__":
    main()
