"""What the server answers: every route, and the events of every kind of turn."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.surfaces.captures.cli_cases import LOUDER
from tests.surfaces.captures.http_routes import capture_http
from tests.surfaces.captures.stream_capture import capture_stream
from tests.surfaces.subject import Workplace

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("warm_engine")]

Matches = Callable[[str, Mapping[str, str]], None]


@pytest.fixture
def louder(place: Workplace) -> dict[str, Any]:
    """A flow that fills a prompt, built by the subject."""
    built = place.run(["flow", "build", "-", "--json"], stdin=LOUDER)
    flow: dict[str, Any] = json.loads(built.out)["flow"]
    return flow


def test_every_route_answers_as_committed(place: Workplace, louder: dict[str, Any], matches: Matches) -> None:
    matches("http", capture_http(place, louder))


def test_every_turn_streams_the_committed_events(place: Workplace, louder: dict[str, Any], matches: Matches) -> None:
    matches("stream", capture_stream(place, louder))
