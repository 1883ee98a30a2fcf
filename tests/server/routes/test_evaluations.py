"""Journals and reports of evaluations over real HTTP, read from the folder of the settings without the harness."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from flows.catalogue import Catalogue
from server.settings import ServerSettings
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
PATH = "/api/v1/evaluations"
BASELINE = Path(__file__).parents[3] / "evals" / "baselines" / "demo.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two journals and a report, and with what is not to be read."""
    made = tmp_path / "evaluations"
    (made / "may").mkdir(parents=True)
    attempts = [json.dumps({"scenario": f"s{number}", "turns": []}) for number in range(5)]
    (made / "may" / "attempts.jsonl").write_text("\n".join([*attempts, "", "no json", "[1]", '{"scenario": "cut']))
    (made / "scores.jsonl").write_bytes(BASELINE.read_bytes())
    (made / "report.html").write_text("<script>alert(1)</script>")
    (made / "notes.bin").write_text("secret-of-the-host")
    (made / ".hidden.json").write_text("secret-of-the-host")
    (tmp_path / "outside.json").write_text("secret-of-the-host")
    (made / "link.json").symlink_to(tmp_path / "outside.json")
    return made


async def test_what_is_there_is_listed_and_read(catalogue: Catalogue, folder: Path) -> None:
    async with serving(assistant(catalogue), ServerSettings(evaluations=folder)) as live:
        listed = (await live.client.get(PATH)).json()
        searched = (await live.client.get(PATH, params={"q": "MAY/"})).json()
        scores = (await live.client.get(f"{PATH}/scores.jsonl/entries", params={"limit": 1})).json()
        report = await live.client.get(f"{PATH}/report.html")
        whole = await live.client.get(f"{PATH}/scores.jsonl")
        refused = await live.client.get(f"{PATH}/report.html/entries")
    assert {(one["name"], one["kind"]) for one in listed["evaluations"]} == {
        ("may/attempts.jsonl", "journal"),
        ("scores.jsonl", "scores"),
        ("report.html", "report"),
    }
    assert (listed["total"], listed["next"], searched["total"]) == (3, None, 1)
    assert scores["entries"][0]["entry"]["player"] == "demo"
    assert scores["total"] == len(BASELINE.read_text().splitlines())
    assert report.headers["content-type"] == "application/octet-stream"
    assert report.headers["content-disposition"].startswith("attachment")
    assert whole.content == BASELINE.read_bytes()
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_a_journal")


async def test_a_journal_is_read_page_by_page_and_says_which_lines_cannot_be(
    catalogue: Catalogue, folder: Path
) -> None:
    found, place = list[tuple[int, object]](), f"{PATH}/may/attempts.jsonl/entries?limit=2"
    async with serving(assistant(catalogue), ServerSettings(evaluations=folder)) as live:
        while place is not None:
            page = (await live.client.get(place)).json()
            found += [(one["line"], one["entry"] and one["entry"]["scenario"]) for one in page["entries"]]
            place = page["next"]
        wrong = await live.client.get(f"{PATH}/may/attempts.jsonl/entries?limit=51")
    assert found == [(number + 1, f"s{number}") for number in range(5)] + [(6, None), (7, None), (8, None)]
    assert wrong.status_code == 422


@pytest.mark.parametrize(
    "name",
    ["nothing.json", ".hidden.json", "notes.bin", "link.json", "../outside.json", "%2e%2e/outside.json",
     "may/%2e%2e/%2e%2e/outside.json", "may", "%00.json", "may/attempts.jsonl/x.json", "x" * 300 + ".json"],
)  # fmt: skip
async def test_nothing_else_is_read(name: str, catalogue: Catalogue, folder: Path) -> None:
    async with serving(assistant(catalogue), ServerSettings(evaluations=folder)) as live:
        for path in (f"{PATH}/{name}", f"{PATH}/{name}/entries"):
            reply = await live.client.get(httpx.URL(live.client.base_url).join(path))
            assert reply.status_code == 404, reply.text
            assert "secret-of-the-host" not in reply.text


async def test_without_a_folder_there_is_nothing(catalogue: Catalogue, tmp_path: Path) -> None:
    for settings in (ServerSettings(), ServerSettings(evaluations=tmp_path / "none")):
        async with serving(assistant(catalogue), settings) as live:
            assert (await live.client.get(PATH)).json()["evaluations"] == []
            reply = await live.client.get(f"{PATH}/report.html")
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "evaluation_not_found")


READ = """
import sys
from pathlib import Path
from starlette.testclient import TestClient
from agent.assistant import Assistant
from runtime.keychain.access_token import access_token
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from server.app import create_app
from server.settings import ServerSettings

settings = ServerSettings(evaluations=Path(sys.argv[1]))
app = create_app(settings, assistant=Assistant(settings, Runner(RunnerEnvironment.locate(settings.cache))))
headers = {"Authorization": f"Bearer {access_token(settings.data)}"}
with TestClient(app, base_url="http://127.0.0.1", headers=headers) as client:
    for path in ("", "/scores.jsonl", "/scores.jsonl/entries"):
        client.get("/api/v1/evaluations" + path).raise_for_status()
print([name for name in sys.modules if name.split(".")[0] == "evals"])
"""


def test_reading_them_loads_nothing_of_the_harness(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ, str(folder)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
