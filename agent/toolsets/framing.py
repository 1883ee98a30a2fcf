"""Frames what tools answer, as data, in every request that a model receives."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from pydantic_ai import ModelMessage, ModelRequest, RunContext, ToolReturnPart
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelRequestPart
from pydantic_ai.models import ModelRequestContext

from agent.prompts.frames import framed_result
from tools.workbench import Workbench


@dataclass
class FramedResults(AbstractCapability[Workbench]):
    """Frames results and errors of tools; what is kept of the conversation stays as the tools answered it."""

    async def before_model_request(
        self, ctx: RunContext[Workbench], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Frame them in the messages of one request."""
        del ctx
        request_context.messages = [_framed(message) for message in request_context.messages]
        return request_context


def _framed(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    parts = [_part(part) for part in message.parts]
    changes = any(one is not other for one, other in zip(parts, message.parts, strict=True))
    return replace(message, parts=parts) if changes else message


def _part(part: ModelRequestPart) -> ModelRequestPart:
    if isinstance(part, ToolReturnPart) or (part.part_kind == "retry-prompt" and part.tool_name):  # the latter: stored
        refused = "\n".join(_wrong_arguments(part.content))
        return replace(part, content=framed_result(part.tool_name or "", refused or part.content))
    return part


def _wrong_arguments(content: object) -> Iterator[str]:
    """What is wrong with the arguments of a call, without the arguments, which the call itself shows."""
    given = cast("list[object]", content) if isinstance(content, list) else []
    errors = [cast("dict[str, object]", one) for one in given if isinstance(one, dict)]
    if len(errors) != len(given) or any(not {"loc", "msg"} <= one.keys() for one in errors):
        return
    for one in errors:
        loc = one["loc"]
        place = cast("list[object] | tuple[object, ...]", loc) if isinstance(loc, list | tuple) else [loc]
        yield f"- {'.'.join(map(str, place))}: {one['msg']}"
