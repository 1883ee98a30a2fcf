"""The description is true: what schemathesis makes of it, sent to the running server, is answered as described."""

from collections.abc import Callable
from typing import Any

import anyio.to_thread
import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from flows.document import JsonObject
from tests.server.access.test_users import Belongings, fill
from tests.server.live import serving
from tests.server.openapi.description import document
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
EXAMPLES = 3
"""Requests of each kind for an operation."""
SHARES = 8
"""How many tests share the operations."""

CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
QUIET: Any = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


class Sender:
    """Sends what is made of the description, and keeps what is answered otherwise than it says."""

    def __init__(self, client: httpx.AsyncClient, has: Belongings) -> None:
        self.base, self.has = str(client.base_url).rstrip("/"), has
        self.headers = {"Authorization": client.headers["Authorization"]}
        self.session = requests.Session()
        self.session.trust_env = False
        self.untrue: dict[str, str] = {}
        self.statuses: dict[str, set[int]] = {}
        self.failed: set[tuple[str, int, str]] = set()

    def try_out(self, operation: Any, mode: GenerationMode) -> None:
        """Send requests of one kind for an operation, and again at the address of what the user has.

        Args:
            operation: the operation.
            mode: whether they are as the description says.
        """
        name = f"{operation.method.upper()} {operation.path}"
        strategy = operation.as_strategy(generation_mode=mode)

        @QUIET
        @given(case=strategy)
        def sent(case: Any) -> None:
            named = {key: value for key, value in self.has.values.items() if key in case.path_parameters}
            if named:
                given = dict(case.path_parameters)
                case.path_parameters.update(named)
                self._send(case, name)
                case.path_parameters.update(given)
            self._send(case, name)

        sent()

    def _send(self, case: Any, name: str) -> None:
        reply = case.call(base_url=self.base, session=self.session, headers=self.headers, timeout=30)
        self.statuses.setdefault(name, set()).add(reply.status_code)
        if reply.status_code >= 500:
            self.failed.add((name, reply.status_code, reply.text[:200]))
        try:
            case.validate_response(reply, checks=CHECKS)
        except (BaseExceptionGroup, AssertionError) as failures:
            told = "; ".join(str(each)[:300] for each in getattr(failures, "exceptions", (failures,)))
            self.untrue[f"{name} {reply.status_code}"] = f"{told}: {reply.text[:300]}"


@pytest.mark.both_databases
@pytest.mark.parametrize("share", range(SHARES))
async def test_every_operation_answers_as_it_is_described(share: int, catalogue: Catalogue, echo: JsonObject) -> None:
    described: Any = schemathesis.openapi.from_dict(document())
    operations: list[Any] = [made.ok() for made in described.get_all_operations()][share::SHARES]
    operations.sort(key=lambda one: one.method == "delete")
    runner = StandInRunner(results=[ran(f"run {number}") for number in range(500)])
    who = Assistant(AssistantSettings(model="demo"), runner, catalogue=catalogue)
    async with serving(who) as live:
        has = await fill(live.client, echo)
        sender = Sender(live.client, has)

        def all_of(send: Callable[..., None]) -> None:
            for operation in operations:
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                    send(operation, mode)

        await anyio.to_thread.run_sync(all_of, sender.try_out)
    assert sender.untrue == {}
    assert sender.failed == set(), "nothing fails that the test has not made fail"
    assert len(sender.statuses) == len(operations)
    succeeded = sum(200 <= min(found) < 300 for found in sender.statuses.values())
    assert succeeded > len(operations) // 3, sender.statuses
