"""The images of a message, for models that see them: added to each request, and kept nowhere else."""

import mimetypes
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic_ai import BinaryContent, ModelRequest, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import UserPromptPart
from pydantic_ai.models import ModelRequestContext

from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from tools.workbench import Workbench

IMAGES: Final = 5
"""How many images of a message a model is shown."""

IMAGE_BYTES: Final = 5 * 1_024 * 1_024
"""Bytes of an image beyond which it is not shown: providers take no larger ones."""

KINDS: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""The media types that providers take."""

_SEEING: Final = re.compile(
    r"claude|gemini|gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-[5-9]|\bo1(?!-mini|-preview)|\bo3(?!-mini)|\bo4|pixtral|llama-?4"
    r"|llava|vision|-vl\b|gemma-?3|nova-(?:lite|pro|premier)",
    re.IGNORECASE,
)
"""The names of models that are known to see images. To any other, an image would make the request fail."""


def sees_images(names: Iterable[str]) -> bool:
    """Whether every one of some models is known to see images; false for none."""
    found = [_SEEING.search(name) is not None for name in names]
    return bool(found) and all(found)


def read_images(files: UserFiles, paths: Iterable[str]) -> list[BinaryContent]:
    """The images among the user's files, the first few that are not too large. Reads from the disk.

    Args:
        files: the user's files.
        paths: those that a message is about.
    """
    found: list[BinaryContent] = []
    for path in paths:
        kind = mimetypes.guess_type(path)[0]
        if kind not in KINDS or len(found) == IMAGES:
            continue
        try:
            content = files.read_bytes(path)
        except FileRefused:  # it went meanwhile; what reads it says so
            continue
        if 0 < len(content) <= IMAGE_BYTES:
            found.append(BinaryContent(content, media_type=kind))
    return found


@dataclass
class AttachedImages(AbstractCapability[Workbench]):
    """Shows images beside the message that they came with.

    Args:
        images: the images.
    """

    images: Sequence[BinaryContent]

    async def before_model_request(
        self, ctx: RunContext[Workbench], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Add them to the first message of one request."""
        del ctx
        first, *rest = request_context.messages
        if self.images and isinstance(first, ModelRequest):
            shown = [
                replace(part, content=[part.content, *self.images])
                if isinstance(part, UserPromptPart) and isinstance(part.content, str)
                else part
                for part in first.parts
            ]
            request_context.messages = [replace(first, parts=shown), *rest]
        return request_context
