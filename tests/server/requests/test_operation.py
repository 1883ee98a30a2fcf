"""What routes declare: every one of them, with schemas that can be made, pages of one shape, and replies that agree."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from flows.catalogue import Catalogue
from flows.document import JsonObject
from server.requests.operation import Operation, is_page, operations
from server.requests.page import PageQuery
from tests.server.access.test_users import fill, model, routes
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio


def declared() -> list[tuple[str, str, Operation | None]]:
    """Everything that the server serves."""
    return list(operations(routes()))


def test_every_route_declares_what_it_takes_and_gives() -> None:
    assert len(declared()) > 60
    assert [(path, method) for path, method, known in declared() if known is None] == []


@pytest.mark.parametrize("known", declared(), ids=lambda one: f"{one[1]} {one[0]}")
def test_a_schema_can_be_made_of_everything_that_is_declared(known: tuple[str, str, Operation]) -> None:
    _, method, operation = known
    for declared_model in (operation.reply, operation.body, operation.query, *operation.also.values()):
        if declared_model is not None:
            assert TypeAdapter(declared_model).json_schema()
    assert method in ("POST", "PUT", "PATCH") or operation.body is None


def test_every_list_is_a_page() -> None:
    pages = [one for _, method, one in declared() if method == "GET" and one is not None and is_page(one)]
    assert len(pages) > 10
    assert all(one.query is not None and issubclass(one.query, PageQuery) for one in pages)


async def test_what_is_answered_is_what_is_declared(catalogue: Catalogue, echo: JsonObject) -> None:
    known = {path: one for path, method, one in declared() if method == "GET" and one is not None}
    read = set[str]()
    async with serving(assistant(catalogue, model(), StandInRunner(results=[ran("x")]))) as live:
        has = await fill(live.client, echo)
        for route in routes():
            operation = known.get(route.path)
            if operation is None or operation.media_type != "application/json":
                continue
            reply = await live.client.get(has.path(route))
            if reply.status_code != 200:
                continue
            read.add(route.path)
            adapter: TypeAdapter[Any] = TypeAdapter(operation.reply)
            told = adapter.dump_json(adapter.validate_json(reply.content), by_alias=True)
            assert json.loads(told) == reply.json(), route.path
            if is_page(operation):
                assert {"total", "limit", "offset", "next"} <= reply.json().keys()
    assert len(read) > 12, sorted(read)
