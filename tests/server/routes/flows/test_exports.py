"""Projects as Langflow writes them, imported over HTTP: whole, damaged, hostile, and with files that are no flows."""

import io
import json
import zipfile
from collections.abc import AsyncGenerator, Sequence
from random import Random
from typing import Any

import pytest

from flows.catalogue import Catalogue
from server.routes.flows.exports import ARCHIVE_FILES, ARCHIVES
from server.settings import ServerSettings
from tests.compatibility.langflow_archives import changed, export, in_lines, listed_often, newer, older, packed
from tests.server.live import FLOWS, Live, serving
from tests.shared.flow_texts import LOUDER, flow_of
from tests.shared.scripted_assistant import assistant

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
IMPORT = f"{FLOWS}/import"
ZIP = {"Content-Type": ARCHIVES[0]}
NAMES = (
    "Kundenanfragen – Ärger",
    "請求書",
    "a/b ../c",
    "../../etc/cron",
    "/root/x",
    "C:\\x",
    "Echo",
    "Echo",
    "project",
)
"""What people call flows, and what somebody could call one."""
LIMIT = 1_000_000


@pytest.fixture(scope="module")
def flow(catalogue: Catalogue) -> dict[str, Any]:
    """A flow with components and their code."""
    return flow_of(LOUDER, catalogue).to_json()


@pytest.fixture
async def live(catalogue: Catalogue) -> AsyncGenerator[Live]:
    async with serving(assistant(catalogue), ServerSettings(flow_body_limit=LIMIT)) as made:
        yield made


async def stored(live: Live) -> list[dict[str, Any]]:
    """The flows that are stored, as they were sent."""
    entries = (await live.client.get(FLOWS, params={"limit": 100})).json()["flows"]
    return [(await live.client.get(f"{FLOWS}/{one['id']}")).json()["flow"] for one in entries]


@pytest.mark.parametrize("kind", ARCHIVES)
@pytest.mark.parametrize("write", [older, newer])
async def test_a_whole_project_of_langflows_is_imported(
    write: Any, kind: str, flow: dict[str, Any], live: Live
) -> None:
    small: dict[str, Any] = {"data": {**flow["data"], "nodes": flow["data"]["nodes"][:1], "edges": []}}
    exports = [export(small, name, number) for number, name in enumerate(NAMES)]
    done = await live.client.post(IMPORT, content=write(exports), headers={"Content-Type": kind})
    assert (done.status_code, done.json()["skipped"]) == (201, [])
    assert [one["name"] for one in done.json()["flows"]] == list(NAMES)
    found = await stored(live)
    assert sorted(one["name"] for one in found) == sorted(NAMES)
    for one in found:
        assert one["data"] == exports[NAMES.index(one["name"])]["data"], "code is one text, whatever the export writes"
    assert (await live.client.get(FLOWS, params={"stale": "true"})).json()["total"] == 0
    assert not list(ServerSettings().data.rglob("*.json")), "no file is written where a name says"


async def test_one_export_may_have_its_code_in_lines(flow: dict[str, Any], live: Live) -> None:
    document = export(flow, "Lines")
    made = await live.client.post(FLOWS, json=in_lines(document))
    assert made.status_code == 201
    [kept] = await stored(live)
    assert kept["data"] == document["data"]


def good(flow: dict[str, Any], name: str = "Good") -> bytes:
    return json.dumps(export(flow, name)).encode()


NOISE: Sequence[tuple[str, bytes]] = (
    ("__MACOSX/._Good.json", b"\0\5\26\7"),
    ("project.json", b'{"project_type": "default"}'),
    ("nested/project.json", b'{"name": "x"}'),
    ("readme.md", b"# Hello"),
    (".DS_Store", b"\0"),
    ("folder/", b""),
    ("components/Mine.py", b"class Mine: ..."),
)
"""What archives have beside flows, and what nobody would call one."""

BAD: dict[str, tuple[bytes, str, str]] = {
    "cut off": (b'{"data": {', "bad.json", "not_json"),
    "empty": (b"", "bad.json", "not_json"),
    "no flow": (b'{"name": "settings"}', "bad.json", "invalid_flow"),
    "a number": (b"7", "bad.json", "invalid_flow"),
    "nodes that are none": (b'{"data": {"nodes": [7], "edges": []}}', "bad.json.data.nodes[0]", "invalid_flow"),
    "latin-1": ('{"name": "Grüße", "nodes": []}'.encode("latin-1"), "bad.json", "not_json"),
    "utf-16": ('{"name": "x", "nodes": []}'.encode("utf-16"), "bad.json", "not_json"),
    "deep": (b'{"nodes": [' + b"[" * 5_000, "bad.json", "not_json"),
    "one of two": (
        b'{"flows": [{"nodes": [], "edges": []}, {"nodes": 1}]}',
        "bad.json.flows[1].nodes",
        "invalid_flow",
    ),
}


@pytest.mark.parametrize("what", BAD)
async def test_what_is_no_flow_is_named_and_the_good_ones_are_imported(
    what: str, flow: dict[str, Any], live: Live
) -> None:
    content, where, code = BAD[what]
    files = [("One.json", good(flow, "One")), ("bad.json", content), *NOISE, ("sub/Two.json", good(flow, "Two"))]
    done = await live.client.post(IMPORT, content=packed(files), headers=ZIP)
    assert done.status_code == 201, done.text
    skipped = done.json()["skipped"]
    assert [(one["where"], one["code"]) for one in skipped] == [(where, code)]
    assert all(one["message"] and one["fix"] for one in skipped)
    names = [one["name"] for one in done.json()["flows"]]
    assert [name for name in names if name in ("One", "Two")] == ["One", "Two"]
    assert len(await stored(live)) == done.json()["total"] == len(names)
    alone = await live.client.post(IMPORT, content=packed([("bad.json", content)]), headers=ZIP)
    if what != "one of two":
        assert (alone.status_code, alone.json()["error"]["where"]) in ((400, where), (422, where))
        assert len(await stored(live)) == len(names), "nothing of an archive without flows is stored"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"flags": 1}, "encrypted"),
        ({"method": 99}, "damaged"),
        ({"size": 10}, "damaged"),
    ],
    ids=["encrypted", "unknown method", "larger than it says"],
)
async def test_a_file_that_cannot_be_unpacked_is_named(
    change: dict[str, int], code: str, flow: dict[str, Any], live: Live
) -> None:
    archive = packed([("One.json", good(flow, "One")), ("bad.json", good(flow)), ("Two.json", good(flow, "Two"))])
    done = await live.client.post(IMPORT, content=changed(archive, "bad.json", **change), headers=ZIP)
    assert done.status_code == 201, done.text
    assert [(one["where"], one["code"]) for one in done.json()["skipped"]] == [("bad.json", code)]
    assert [one["name"] for one in done.json()["flows"]] == ["One", "Two"]


@pytest.mark.parametrize("what", ["one large file", "many files", "one file many times", "more entries than are read"])
async def test_a_bomb_is_refused_before_it_is_unpacked(what: str, flow: dict[str, Any], live: Live) -> None:
    small = packed([("x.json", good(flow))])
    archive = {
        "one large file": packed([("x.json", b'{"nodes": "' + b"x" * LIMIT + b'"}')]),
        "many files": packed([(f"{number}.json", b" " * 5_100) for number in range(199)]),
        "one file many times": listed_often(small, 150),
        "more entries than are read": listed_often(packed([("x", b"")]), ARCHIVE_FILES + 1),
    }[what]
    done = await live.client.post(IMPORT, content=archive, headers=ZIP)
    assert (done.status_code, done.json()["error"]["code"]) == (413, "too_large"), done.text
    assert await stored(live) == []


async def test_damage_anywhere_is_a_typed_refusal_or_leaves_files_out(live: Live) -> None:
    one: dict[str, Any] = {"data": {"nodes": [], "edges": []}}
    archive = packed([("Ä.json", good(one, "A")), ("B.json", good(one, "B"))])
    random = Random(23)  # noqa: S311  (the same each time)
    for _ in range(400):
        damaged = bytearray(archive)
        for _ in range(random.randint(1, 4)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        if random.random() < 0.2:
            del damaged[random.randrange(len(damaged)) :]
        reply = await live.client.post(IMPORT, content=bytes(damaged), headers=ZIP)
        assert reply.status_code in (201, 400, 409, 413, 422), (reply.status_code, reply.text)
        assert reply.json().get("flows") or reply.json()["error"]["fix"]
    assert (await live.client.get("/healthz")).status_code == 200


async def test_what_is_exported_here_comes_back_from_an_archive(flow: dict[str, Any], live: Live) -> None:
    made = (await live.client.post(FLOWS, json=export(flow, "There and back"))).json()["id"]
    content = (await live.client.get(f"{FLOWS}/{made}/export")).content
    files = io.BytesIO()
    with zipfile.ZipFile(files, "w") as archive:
        archive.writestr("flow.json", b"\xef\xbb\xbf" + content)  # as an editor of Windows saves it
    assert (await live.client.post(IMPORT, content=files.getvalue(), headers=ZIP)).status_code == 201
    first, second = await stored(live)
    assert first == second
