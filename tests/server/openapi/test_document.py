"""The description of the API: every route with its scope, statuses and headers, and a page that loads nothing."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flows.catalogue import Catalogue
from server.access.auth import Access
from server.access.scopes import NEEDS, READS
from server.app import create_app
from server.openapi.document import openapi
from server.openapi.page import page
from server.requests.operation import functions
from server.settings import ServerSettings
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def table() -> list[Route]:
    app = create_app(ServerSettings(), access=Access("t" * 43))
    return [route for route in app.routes if isinstance(route, Route)]


@pytest.fixture(scope="module")
def document(table: list[Route]) -> dict[str, Any]:
    return openapi(table, "1.2.3")


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(path, method): one for path, methods in document["paths"].items() for method, one in methods.items()}


def test_every_route_and_method_is_described_with_the_scope_that_it_needs(
    document: dict[str, Any], table: list[Route]
) -> None:
    described = operations(document)
    served = {(re.sub(r":\w+\}", "}", path), method.lower()): (path, method) for path, method, _ in functions(table)}
    assert set(described) == set(served)
    for key, (path, method) in served.items():
        needed = NEEDS[path].read if method in READS else NEEDS[path].change
        security = described[key]["security"]
        assert [scope for one in security for scope in one["bearer"]] == ([needed] if needed else []), key
    assert described["/sign-in", "delete"]["security"] == [{"bearer": []}], "signing out needs a session"


def test_a_route_that_declares_nothing_cannot_be_described() -> None:
    async def forgotten(_: Request) -> Response:
        return Response()

    with pytest.raises(LookupError, match="GET /healthz declares nothing"):
        openapi([Route("/healthz", forgotten, methods=["GET"])], "1")


def test_names_are_unique_and_read_as_what_is_done(document: dict[str, Any]) -> None:
    names = [one["operationId"] for one in operations(document).values()]
    assert len(set(names)) == len(names)
    assert {"list_flows", "create_flow", "get_flow", "restore_flow_revision", "run_flow", "cancel_turn"} <= set(names)
    assert {"create_files", "update_flow_components", "delete_flow_sessions", "get_page"} <= set(names)
    assert not [name for name in document["components"]["schemas"] if "__" in name or "-" in name]


def mappings(part: Any) -> Iterator[dict[str, Any]]:
    """What each discriminator of a document leads to."""
    if isinstance(part, list):
        for one in cast("list[Any]", part):
            yield from mappings(one)
    elif isinstance(part, dict):
        for key, one in cast("dict[str, Any]", part).items():
            if key == "discriminator" and isinstance(one, dict) and "propertyName" in one:
                yield cast("dict[str, Any]", one).get("mapping", {})
            yield from mappings(one)


def test_every_reference_leads_somewhere_and_every_schema_is_one(document: dict[str, Any]) -> None:
    for reference in set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document))):
        found: Any = document
        for step in reference.split("/"):
            found = found[step]
        assert isinstance(found, dict), reference
    for mapping in mappings(document):
        assert all(isinstance(target, str) and target.startswith("#/") for target in mapping.values()), mapping
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"] == "1.2.3"


def test_statuses_and_headers_follow_from_what_a_route_takes(document: dict[str, Any]) -> None:
    found = operations(document)

    def headers(path: str, method: str) -> set[str]:
        return {one["$ref"].rpartition("/")[2] for one in found[path, method]["parameters"] if "$ref" in one}

    put = found["/api/v1/flows/{flow_id}", "put"]
    assert {"200", "400", "401", "403", "404", "409", "413", "415", "422", "428", "429", "503"} <= set(put["responses"])
    assert set(put["responses"]["200"]["headers"]) == {"X-Request-ID", "ETag"}
    assert headers("/api/v1/flows/{flow_id}", "put") == {"X-Request-ID", "If-Match"}
    assert headers("/api/v1/flows", "post") == {"X-Request-ID", "Idempotency-Key"}
    assert "Last-Event-ID" in headers("/api/v1/agentic/turns/{turn_id}/events", "get")
    assert "410" in found["/api/v1/agentic/turns/{turn_id}/events", "get"]["responses"]
    assert {"200", "202", "504"} <= set(found["/api/v1/flows/{flow_id}/run", "post"]["responses"])
    assert {"201", "Location"} <= {*found["/api/v1/flows", "post"]["responses"], "Location"}
    assert "Location" in found["/api/v1/flows", "post"]["responses"]["201"]["headers"]
    assert set(found["/healthz", "get"]["responses"]) == {"200", "403"}
    errors = document["components"]["responses"]
    assert set(errors["Error429"]["headers"]) == set(errors["Error503"]["headers"]) == {"X-Request-ID", "Retry-After"}
    stream = found["/api/v1/agentic/assist/stream", "post"]["responses"]["200"]["content"]["text/event-stream"]
    assert "oneOf" in stream["schema"]["properties"]["data"]["contentSchema"]


def test_a_field_says_what_its_model_says_of_it(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    entry = schemas["FlowEntry"]
    assert entry["properties"]["version"]["description"] == "counts its revisions, from 1."
    assert "Attributes" not in entry["description"]
    assert set(entry["required"]) == set(entry["properties"])
    assert "input_value" in schemas["AssistRequest"]["properties"]
    assert "required" not in schemas["AssistRequest"], "a client may leave any field out"


async def test_anyone_reads_the_description_and_the_page(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        described = await live.stranger.get("/openapi.json")
        again = await live.stranger.get("/openapi.json")
        shown = await live.stranger.get("/docs")
    assert described.headers["content-type"] == "application/json"
    assert described.json()["paths"].keys() == again.json()["paths"].keys()
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert "script" not in shown.headers["content-security-policy"]
    assert '<a href="#run_flow">' in shown.text


def test_the_page_shows_every_operation_and_schema_and_loads_nothing(document: dict[str, Any]) -> None:
    shown = page(document)
    for one in operations(document).values():
        assert f'<article id="{one["operationId"]}">' in shown
    for name in document["components"]["schemas"]:
        assert f'<article id="{name}">' in shown
    for link in re.findall(r'href="#([^"]+)"', shown):
        assert f'id="{link}"' in shown
    assert not re.findall(r"<script|<link|<img|@import|url\(|src=|https?://", shown)


def test_the_page_shows_a_text_and_never_takes_it_for_markup(document: dict[str, Any]) -> None:
    evil = {**document, "info": {**document["info"], "title": "<script>alert(1)</script>"}}
    assert "<script" not in page(evil)
