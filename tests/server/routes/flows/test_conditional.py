"""A flow that is read again with its entity tag is sent only if it has changed."""

import pytest

from flows.catalogue import Catalogue
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
EMPTY = {"name": "Mine", "data": {"nodes": [], "edges": []}}


async def test_a_flow_is_sent_again_only_if_it_has_changed(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        made = await live.client.post(FLOWS, json=EMPTY)
        path, tag = f"{FLOWS}/{made.json()['id']}", made.headers["etag"]
        for known in (tag, f"W/{tag}"):
            same = await live.client.get(path, headers={"If-None-Match": known})
            assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
        await live.client.put(path, json={"version": made.json()["version"], "flow": {**EMPTY, "name": "Yours"}})
        newer = await live.client.get(path, headers={"If-None-Match": tag})
        assert newer.status_code == 200
        assert newer.headers["etag"] != tag
        assert newer.json()["flow"]["name"] == "Yours"


async def test_a_flow_is_found_by_its_name_however_its_marks_are_encoded(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        await live.client.post(FLOWS, json={**EMPTY, "name": "Cafe\u0301"})
        for text in ("caf\u00e9", "CAFE\u0301"):
            found = (await live.client.get(FLOWS, params={"q": text})).json()["flows"]
            assert [one["name"] for one in found] == ["Cafe\u0301"]
