"""What the server's tests share: a small flow."""

import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from tests.shared.flow_texts import ECHO, flow_of


@pytest.fixture(scope="session")
def echo(catalogue: Catalogue) -> JsonObject:
    """A flow that answers what it is told."""
    return flow_of(ECHO, catalogue).to_json()
