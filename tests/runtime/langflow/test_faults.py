"""Servers that are slow, answer too much, lead elsewhere, or say what they should not."""

import gzip
from collections.abc import Generator

import pytest
from starlette.responses import JSONResponse, Response

from runtime.langflow.client import opened
from runtime.langflow.connections import Connection
from runtime.langflow.errors import LangflowError
from tests.runtime.langflow.stand_in import KEY, StandInLangflow, langflow

pytestmark = pytest.mark.anyio


@pytest.fixture
def there() -> Generator[StandInLangflow]:
    with langflow() as stand_in:
        yield stand_in


async def refusal(there: StandInLangflow, seconds: float = 30) -> LangflowError:
    connection = Connection(name="team", url=there.url, key=KEY)
    with pytest.raises(LangflowError) as refused:
        async with opened(connection, seconds) as server:
            await server.projects()
    assert KEY not in refused.value.message + refused.value.fix
    return refused.value


async def test_a_server_that_is_too_slow_is_given_up(there: StandInLangflow) -> None:
    there.stalls = True
    assert (await refusal(there, 0.2)).code == "langflow_timeout"


async def test_an_answer_that_unpacks_to_more_than_is_read_is_refused(there: StandInLangflow) -> None:
    packed = gzip.compress(b" " * (33 * 1024 * 1024))
    there.fault = Response(packed, headers={"content-encoding": "gzip", "content-type": "application/json"})
    assert (await refusal(there)).code == "answer_too_large"


async def test_a_redirection_is_not_followed_and_its_host_is_named(there: StandInLangflow) -> None:
    there.fault = Response(status_code=307, headers={"location": "https://elsewhere.example.org/api"})
    refused = await refusal(there)
    assert (refused.code, "elsewhere.example.org" in refused.message) == ("langflow_redirects", True)


async def test_the_servers_words_are_shown_without_keys_on_one_short_line(there: StandInLangflow) -> None:
    there.fault = JSONResponse({"detail": f"failed\x1b[2J\nwith {KEY} " + "a" * 5_000}, 500)
    refused = await refusal(there)
    assert refused.code == "langflow_failed"
    assert refused.message.isprintable()
    assert len(refused.message) < 500


@pytest.mark.parametrize("body", [b"[1]", b'{"a": 1}', b"null", b"\xff", b"[" * 2_000])
async def test_json_of_another_form_is_no_langflow(there: StandInLangflow, body: bytes) -> None:
    there.fault = Response(body, media_type="application/json")
    assert (await refusal(there)).code == "not_langflow"
