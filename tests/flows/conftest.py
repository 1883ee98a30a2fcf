"""What the tests of flows share: a real excerpt of the catalogue, and a way to build flows that must build."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """Real component types, taken from the engine's index."""
    return Catalogue.load(Path(__file__).parent / "data" / "catalogue.json")


@pytest.fixture(scope="session")
def catalogue_json() -> dict[str, object]:
    """The same as the parsed file."""
    return json.loads((Path(__file__).parent / "data" / "catalogue.json").read_text())


@pytest.fixture
def built(catalogue: Catalogue) -> Callable[[str], tuple[Flow, dict[str, str]]]:
    """Build a spec that must build; gives the flow and the node ids by spec id."""

    def make(spec: str) -> tuple[Flow, dict[str, str]]:
        result = build(spec, catalogue)
        assert result.flow is not None, result.faults
        return result.flow, dict(result.ids)

    return make
