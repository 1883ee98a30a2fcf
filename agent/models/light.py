"""Leaves out of PydanticAI's import what models that are code never need, and what takes long to make."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pydantic
import pydantic_ai.models


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


@contextmanager
def without_prices() -> Generator[None]:
    """Make a model that costs nothing without the list of prices, which PydanticAI loads with every model."""
    module: Any = pydantic_ai.models
    load = module.preload_pricing_data
    module.preload_pricing_data = lambda: None
    try:
        yield
    finally:
        module.preload_pricing_data = load
