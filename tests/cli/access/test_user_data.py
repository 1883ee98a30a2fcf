"""`wirewright users export`, `import` and `delete`."""

from pathlib import Path

import pytest

from tests.cli.conftest import Wirewright
from tests.databases.secrets import keep_variables, kept_variables

pytestmark = pytest.mark.both_databases


def test_a_user_moves_with_everything(wirewright: Wirewright, tmp_path: Path) -> None:
    wirewright("users", "add", "ada", "--scopes", "run")
    (ada,) = wirewright("users", "list", "--json").json["users"]
    archive = str(tmp_path / "ada.zip")
    keep_variables(ada["id"], {"A_KEY": "secret"})
    assert wirewright("users", "export", "ada", "--out", archive, "--secrets").code == 0
    deleted = wirewright("users", "delete", "ADA", "--yes", "--json")
    assert (deleted.code, deleted.json["user"]) == (0, "ada")
    assert wirewright("users", "list", "--json").json["users"] == []
    imported = wirewright("users", "import", archive, "--json").json
    (back,) = wirewright("users", "list", "--json").json["users"]
    assert (imported["user"], back["name"], back["scopes"]) == ("ada", "ada", ada["scopes"])
    assert imported["token"].startswith(f"ww-{back['id']}-")
    assert kept_variables(back["id"]) == {"A_KEY": "secret"}


def test_without_secrets_their_names_alone_are_exported(wirewright: Wirewright, tmp_path: Path) -> None:
    archive = tmp_path / "local.zip"
    keep_variables("local", {"A_KEY": "hush"})
    assert wirewright("users", "export", "local", "--out", str(archive)).code == 0
    imported = wirewright("users", "import", str(archive), "--as", "copy", "--json").json
    assert kept_variables(imported["token"].split("-")[1]) == {}


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["export", "nobody", "--out", "x.zip"], 1, "user_not_found"),
        (["delete", "nobody", "--yes"], 1, "user_not_found"),
        (["delete", "local"], 2, "usage"),
        (["import", "missing.zip"], 2, "unreadable"),
    ],
)
def test_what_cannot_be_done_is_a_typed_error(
    arguments: list[str], code: int, error: str, wirewright: Wirewright
) -> None:
    done = wirewright("users", *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (code, error)
    assert done.json["error"]["fix"]


def test_an_import_that_fails_adds_nobody(wirewright: Wirewright, tmp_path: Path) -> None:
    archive = str(tmp_path / "local.zip")
    assert wirewright("users", "export", "local", "--out", archive).code == 0
    keep_variables("local", {"A_KEY": "hush"})
    assert wirewright("users", "import", archive, "--as", "a b", "--json").json["error"]["code"] == "invalid_name"
    assert wirewright("users", "list", "--json").json["users"] == []


def test_what_a_deleted_user_stored_at_that_moment_is_deleted_by_the_id(wirewright: Wirewright) -> None:
    wirewright("users", "add", "ada")
    gone = wirewright("users", "delete", "ada", "--yes", "--json").json["id"]
    keep_variables(gone, {"A_KEY": "late"})
    again = wirewright("users", "delete", gone, "--yes", "--json")
    assert (again.code, again.json["rows"]) == (0, {"secrets": 1})
    assert kept_variables(gone) == {}
