"""Names that the tests of the gateway share."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from runtime.gateway.accounts import RunAccount

if TYPE_CHECKING:  # it takes half a second to import
    from openai import AsyncOpenAI

NAME = "some:model"
"""The model that flows of these tests ask for."""

OpenSession = Callable[..., RunAccount]
Connect = Callable[..., "AsyncOpenAI"]
