"""Names that the tests of the gateway share."""

from collections.abc import Callable

from openai import AsyncOpenAI

from runtime.gateway.accounts import RunAccount

NAME = "some:model"
"""The model that flows of these tests ask for."""

OpenSession = Callable[..., RunAccount]
Connect = Callable[..., AsyncOpenAI]
