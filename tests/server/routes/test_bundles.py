"""Bundles over real HTTP: listed with what is installed, and installed by who may."""

import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from runtime.install.errors import InstallError
from tests.server.access.test_users import client_of
from tests.server.live import Live, serving
from tests.shared.scripted_assistant import assistant
from tests.shared.shelf import AWAY, Shelf, index_of, shelf_of

pytestmark = pytest.mark.anyio
PATH = "/api/v1/bundles"


def who(catalogue: Catalogue, engine: Shelf) -> Assistant:
    """An assistant whose engine can be given the bundle `shelf`."""
    return Assistant(AssistantSettings(model="demo"), engine, catalogue=catalogue, bundles=index_of(catalogue))


async def settled(live: Live) -> dict[str, object]:
    """The bundle once its installation has ended."""
    while (found := (await live.client.get(f"{PATH}/shelf")).json())["state"] == "installing":
        pass
    return found


async def test_a_bundle_is_installed_for_everyone_without_waiting(catalogue: Catalogue) -> None:
    engine = shelf_of(catalogue)
    async with serving(who(catalogue, engine)) as live, client_of(live, "ada") as ada:
        before = (await ada.get(PATH)).json()
        begun = await live.client.post(f"{PATH}/shelf/install")
        done = await settled(live)
        again = await live.client.post(f"{PATH}/shelf/install")
        found = (await ada.get(PATH, params={"installed": "true", "q": "SHOUT"})).json()
        none = (await ada.get(PATH, params={"installed": "false"})).json()
        known = await ada.get(f"/api/v1/components/{AWAY}")
    assert before["bundles"] == [
        {
            "name": "shelf",
            "requirement": "lfx-shelf",
            "size_mb": 7.2,
            "types": [AWAY],
            "installed": False,
            "state": "available",
            "progress": "",
            "error": None,
            "fix": "",
        }
    ]
    assert (before["total"], before["next"]) == (1, None)
    assert (begun.status_code, begun.headers["location"]) == (202, f"{PATH}/shelf")
    assert (done["state"], done["installed"], done["error"]) == ("installed", True, None)
    assert (again.status_code, engine.installed) == (200, [["lfx-shelf"]])
    assert ([one["name"] for one in found["bundles"]], none["total"]) == (["shelf"], 0)
    assert known.json().get("installed") is None


async def test_who_may_not_install_installs_nothing(catalogue: Catalogue) -> None:
    engine = shelf_of(catalogue)
    async with serving(who(catalogue, engine)) as live, client_of(live, "ada", "build", "run") as ada:
        refused = await ada.post(f"{PATH}/shelf/install")
    assert (refused.status_code, refused.json()["error"]["code"], engine.installed) == (403, "missing_scope", [])


async def test_an_installation_that_fails_says_why_and_can_be_tried_again(catalogue: Catalogue) -> None:
    engine = shelf_of(catalogue, error=InstallError("There is no network.", "Connect it."))
    async with serving(who(catalogue, engine)) as live:
        await live.client.post(f"{PATH}/shelf/install")
        failed = await settled(live)
        engine.error = None
        again = await live.client.post(f"{PATH}/shelf/install")
        done = await settled(live)
    assert (failed["state"], failed["error"], failed["fix"]) == ("failed", "There is no network.", "Connect it.")
    assert (again.status_code, done["state"]) == (202, "installed")


async def test_an_installation_ends_with_the_server(catalogue: Catalogue) -> None:
    engine = shelf_of(catalogue, hangs_installing=True)
    async with serving(who(catalogue, engine)) as live:
        first = (await live.client.post(f"{PATH}/shelf/install")).json()
        await live.client.post(f"{PATH}/shelf/install")
    assert first["state"] == "installing"
    assert engine.stopped.is_set()
    assert engine.installed == [["lfx-shelf"]], "it is not begun twice"


async def test_only_bundles_of_the_index_are_installed(catalogue: Catalogue) -> None:
    engine = shelf_of(catalogue)
    async with serving(who(catalogue, engine)) as live:
        unknown = await live.client.post(f"{PATH}/numpy/install")
        missing = await live.client.get(f"{PATH}/shelve")
    assert (unknown.status_code, unknown.json()["error"]["code"], engine.installed) == (404, "bundle_not_found", [])
    assert "shelf" in missing.json()["error"]["fix"]


async def test_the_bundles_that_ship_are_listed(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        listed = (await live.client.get(PATH, params={"q": "slack"})).json()["bundles"]
        wrong = await live.client.get(PATH, params={"installed": "perhaps"})
    assert "slack" in [one["name"] for one in listed]
    assert (wrong.status_code, wrong.json()["error"]["where"]) == (422, "?installed")
