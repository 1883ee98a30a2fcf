"""Users over HTTP: an admin adds, lists, revokes and rotates them; nobody else does, and a token is shown once."""

import httpx
import pytest

from flows.catalogue import Catalogue
from server.idempotency.check import HEADER
from tests.server.access.test_users import client_of
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
USERS = "/api/v1/users"


async def test_an_admin_adds_a_user_whose_token_works_and_is_shown_once(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        added = await live.client.post(USERS, json={"name": "ada", "days": 3})
        token: str = added.json()["token"]
        as_ada = {"Authorization": f"Bearer {token}"}
        seen = await live.stranger.get(FLOWS, headers=as_ada)
        me = (await live.stranger.get("/api/v1/me", headers=as_ada)).json()
        listed = await live.client.get(USERS)
        first = (await live.client.get("/api/v1/me")).json()
    assert (added.status_code, seen.status_code) == (201, 200)
    assert [one["name"] for one in listed.json()["users"]] == ["ada"]
    assert token not in listed.text
    assert (me["user"]["name"], me["is_first"]) == ("ada", False)
    assert me["user"]["scopes"] == ["read", "build", "run"]
    assert me["user"]["expires_at"] is not None
    assert (first["user"]["name"], first["is_first"]) == ("local", True)


async def test_revoking_and_rotating_end_a_token(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        token = (await live.client.post(USERS, json={"name": "ada"})).json()["token"]
        revoked = await live.client.post(f"{USERS}/ADA/revoke")
        refused = await live.stranger.get(FLOWS, headers={"Authorization": f"Bearer {token}"})
        rotated = await live.client.post(f"{USERS}/ada/rotate")
        again = await live.stranger.get(FLOWS, headers={"Authorization": f"Bearer {rotated.json()['token']}"})
    assert (revoked.json()["state"], refused.status_code) == ("revoked", 401)
    assert (rotated.json()["user"]["state"], again.status_code) == ("active", 200)
    assert rotated.json()["token"] != token


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": "ADA"}, 409, "name_taken"),
        ({"name": "local"}, 409, "name_taken"),
        ({"name": "a b"}, 422, "invalid_name"),
        ({"name": "bob", "scopes": []}, 422, "invalid_request"),
        ({"name": "bob", "scopes": ["root"]}, 422, "invalid_request"),
        ({"name": "bob", "days": 0}, 422, "invalid_request"),
        ({}, 422, "invalid_request"),
    ],
)
async def test_a_user_that_cannot_be_added_is_refused(
    body: dict[str, object], status: int, code: str, catalogue: Catalogue
) -> None:
    async with serving(assistant(catalogue)) as live:
        await live.client.post(USERS, json={"name": "ada"})
        refused = await live.client.post(USERS, json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
        assert (await live.client.get(USERS)).json()["total"] == 1


async def test_only_an_admin_sees_or_changes_users(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live, client_of(live, "ada") as ada:
        refused = [
            await ada.get(USERS),
            await ada.post(USERS, json={"name": "eve", "scopes": ["admin"]}),
            await ada.post(f"{USERS}/ada/rotate"),
            await ada.post(f"{USERS}/nobody/revoke"),
        ]
        unknown = await live.client.post(f"{USERS}/nobody/revoke")
        async with client_of(live, "root", "admin") as root:
            added = await root.post(USERS, json={"name": "eve"})
    assert {one.json()["error"]["code"] for one in refused} == {"missing_scope"}
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "user_not_found")
    assert added.status_code == 201


async def test_a_repeated_request_adds_and_rotates_nobody_twice_and_shows_no_token_again(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        replies: list[httpx.Response] = [
            await live.client.post(USERS, json={"name": "ada"}, headers={HEADER: "once"}) for _ in range(2)
        ]
        rotated = [await live.client.post(f"{USERS}/ada/rotate", headers={HEADER: "twice"}) for _ in range(2)]
        first = rotated[0].json()["token"]
        assert (await live.stranger.get("/api/v1/me", headers={"Authorization": f"Bearer {first}"})).status_code == 200
    for done, again in (replies, rotated):
        assert (again.status_code, again.json()["error"]["code"]) == (409, "answer_not_kept")
        assert done.json()["token"] not in again.text
        assert done.headers["cache-control"] == "no-store"
