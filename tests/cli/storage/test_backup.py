"""`wirewright backup` and `restore`: one file with everything, and back."""

import shutil
from pathlib import Path

import pytest

from agent.settings import AssistantSettings
from runtime.archive.folder import remove_all
from tests.cli.conftest import Wirewright
from tests.databases.full_house import rows_of

pytestmark = pytest.mark.both_databases


def test_what_was_backed_up_is_restored_from_sqlite_and_postgres(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = wirewright("users", "add", "ada", "--json").json["token"]
    settings, archive = AssistantSettings(), str(tmp_path / "b.zip")
    rows = rows_of(settings.database_url)
    written = wirewright("backup", archive, "--json")
    assert (written.code, written.json["rows"]["users"]) == (0, 1)
    assert wirewright("users", "add", "bob").code == 0
    refused = wirewright("restore", archive, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "not_empty")
    assert "--overwrite" in refused.json["error"]["fix"]
    assert wirewright("restore", archive, "--overwrite").code == 0
    assert rows_of(settings.database_url) == rows
    monkeypatch.delenv("WIREWRIGHT_DATABASE", raising=False)
    shutil.rmtree(settings.data)
    assert wirewright("restore", archive, "--json").json == written.json
    assert wirewright("users", "list", "--json").json["users"][0]["name"] == "ada"
    assert token not in wirewright("users", "list", "--json").out


def test_a_key_that_is_not_inside_is_named(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_SECRET_KEY", "x" * 40)
    done = wirewright("backup", str(tmp_path / "b.zip"))
    assert done.code == 0
    assert "WIREWRIGHT_SECRET_KEY" in done.err
    remove_all(AssistantSettings().data)
