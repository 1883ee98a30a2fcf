"""The OpenAI SDK's client, sending messages and tools as they are.

Before each request the SDK walks through the whole body, with a coroutine for every value and for every alternative of
its type, to rename keys and to encode files. PydanticAI's messages and tools are JSON already, so that the walk changes
nothing; it took a twentieth of what a turn costs the server. The SDK has no switch for it, but sends what is in an
`extra_body` as it is.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from openai import AsyncOpenAI


def send_as_it_is(client: AsyncOpenAI) -> None:
    """Make a client send what it is given without walking through it.

    Args:
        client: sends requests whose messages, inputs and tools are JSON.
    """
    client.chat.completions.create = _as_it_is(client.chat.completions.create, "messages", "tools")
    client.responses.create = _as_it_is(client.responses.create, "input", "tools")


def _as_it_is(create: Callable[..., Awaitable[Any]], *names: str) -> Callable[..., Any]:
    """The same method, with its long arguments moved to where the SDK leaves them alone; their places are kept."""

    @wraps(create)
    async def created(**request: Any) -> Any:
        long = {name: request[name] for name in names if isinstance(request.get(name), list)}
        request.update({name: [] for name in long}, extra_body={**long, **(request.get("extra_body") or {})})
        return await create(**request)

    return created
