"""Wrong tokens are counted by the address that they come from, also behind proxies, and `Retry-After` is true."""

import pytest

from flows.catalogue import Catalogue
from server.access.failed_sign_ins import ALLOWED, FailedSignIns
from server.settings import ServerSettings
from tests.server.limits.conftest import Seconds
from tests.server.live import FLOWS, Live, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio


async def guess(live: Live, forwarded: str | None = None) -> tuple[int, int]:
    """The status of a guess and the seconds that it is told to wait."""
    headers = {"Authorization": "Bearer wrong"} | ({} if forwarded is None else {"X-Forwarded-For": forwarded})
    reply = await live.stranger.get(FLOWS, headers=headers)
    return reply.status_code, int(reply.headers.get("retry-after", 0))


async def test_who_waits_as_long_as_told_is_told_plainly_again_and_a_second_before_is_not(catalogue: Catalogue) -> None:
    clock = Seconds()
    async with serving(assistant(catalogue)) as live:
        live.server.config.app.state.failures.clock = clock  # type: ignore[union-attr]  # uvicorn's type
        assert {await guess(live) for _ in range(ALLOWED)} == {(401, 0)}
        clock.now += 20.5
        status, wait = await guess(live)
        assert (status, wait) == (429, 40), "39.5 s are left"
        clock.now += wait - 1
        assert await guess(live) == (429, 1)
        clock.now += 1
        assert await guess(live) == (401, 0)


async def test_behind_a_proxy_each_client_is_counted_by_its_own_address(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue), ServerSettings(proxy_headers=("127.0.0.1", "10.0.0.0/8"))) as live:
        told = [(await guess(live, "203.0.113.7"))[0] for _ in range(ALLOWED + 1)]
        assert told[-1] == 429
        assert await guess(live, "203.0.113.8") == (401, 0), "a neighbour behind the same proxy"
        invented = "198.51.100.1, 203.0.113.7"
        assert (await guess(live, invented))[0] == 429, "what a client writes before its own address is not believed"
        assert (await guess(live, "203.0.113.7, 10.1.2.3"))[0] == 429, "a second proxy that is trusted"
        assert (await live.client.get(FLOWS, headers={"X-Forwarded-For": "203.0.113.7"})).status_code == 200


async def test_without_a_proxy_the_header_is_not_believed(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        told = [(await guess(live, f"203.0.113.{number}"))[0] for number in range(ALLOWED + 1)]
    assert told == [*[401] * ALLOWED, 429]


def test_addresses_of_one_ipv6_network_count_as_one() -> None:
    failures = FailedSignIns(Seconds())
    told = [failures.count(f"2001:db8:0:1::{number:x}") for number in range(1, ALLOWED + 2)]
    assert [bool(seconds) for seconds in told] == [*[False] * ALLOWED, True]
    assert failures.count("2001:db8:0:2::1") == 0
    assert {failures.count("::ffff:192.0.2.1") for _ in range(ALLOWED)} == {0}
    assert failures.count("192.0.2.1") > 0, "the same address in another form"
