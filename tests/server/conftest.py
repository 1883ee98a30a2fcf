"""What the server's tests share: a small flow."""

import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from flows.spec import build

ECHO = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"


@pytest.fixture(scope="session")
def echo(catalogue: Catalogue) -> JsonObject:
    """A flow that answers what it is told."""
    built = build(ECHO, catalogue)
    assert built.flow is not None, built.faults
    return built.flow.to_json()
