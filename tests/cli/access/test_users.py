"""`wirewright users`: added, listed, revoked and rotated, with the token printed once."""

import pytest

from tests.cli.conftest import Wirewright


def test_a_user_is_added_listed_revoked_and_admitted_again(wirewright: Wirewright) -> None:
    added = wirewright("users", "add", "ada@example.org", "--days", "30")
    token = added.out.strip()
    assert (added.code, token.startswith("ww-"), token in added.err) == (0, True, False)
    listed = wirewright("users", "list")
    assert [row.split()[:3] for row in listed.out.splitlines()] == [["ada@example.org", "read,build,run", "active"]]
    assert wirewright("users", "revoke", "ADA@example.org").code == 0
    assert wirewright("users", "list", "--json").json["users"][0]["state"] == "revoked"
    rotated = wirewright("users", "rotate", "ada@example.org", "--json").json
    assert (rotated["user"]["state"], rotated["token"] == token) == ("active", False)
    assert token not in wirewright("users", "list", "--json").out


def test_scopes_are_given_by_name(wirewright: Wirewright) -> None:
    assert wirewright("users", "add", "ci", "--scopes", "run", "--json").json["user"]["scopes"] == ["read", "run"]
    assert wirewright("users", "add", "boss", "--scopes", "admin", "--json").json["user"]["scopes"] == [
        "read",
        "build",
        "run",
        "admin",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["add", "ci", "--scopes", "write"], 2, "unknown_scope"),
        (["add", "ci", "--scopes", ""], 2, "unknown_scope"),
        (["add", "a b"], 2, "invalid_name"),
        (["add", "local"], 2, "name_taken"),
        (["add", "ci", "--days", "0"], 2, "invalid_days"),
        (["revoke", "nobody"], 1, "user_not_found"),
        (["rotate", "nobody"], 1, "user_not_found"),
    ],
)
def test_what_cannot_be_done_is_a_typed_error(
    arguments: list[str], code: int, error: str, wirewright: Wirewright
) -> None:
    done = wirewright("users", *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (code, error)
    assert done.json["error"]["fix"]


def test_a_name_is_taken_once(wirewright: Wirewright) -> None:
    assert wirewright("users", "add", "ada").code == 0
    again = wirewright("users", "add", "ADA")
    assert (again.code, again.out) == (2, "")
    assert "wirewright users rotate" in again.err
