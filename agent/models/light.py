"""Leaves out of PydanticAI's import what models that are code never need, and what takes long to make."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pydantic


@contextmanager
def reading_batches_later() -> Generator[None]:
    """Import function models without the schema that reads batches of responses: it is built when it is first used."""
    module: Any = pydantic
    adapter = module.TypeAdapter
    module.TypeAdapter = type("TypeAdapter", (adapter,), {"_defer_build": True})
    try:
        yield
    finally:
        module.TypeAdapter = adapter
