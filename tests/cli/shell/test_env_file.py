"""The `.env` file: what it sets, what it may not, and what happens when it cannot be read."""

from pathlib import Path

import pytest
from platformdirs import user_data_path

from cli.shell.env_file import read_env_file

FILE = """# comment
WIREWRIGHT_MODEL="demo"
export OPENAI_API_KEY='sk-1 # not a comment'
WIREWRIGHT_RUN_VARIABLES=SERPAPI_API_KEY, OTHER
SERPAPI_API_KEY=s
PATH=/nowhere
LD_PRELOAD=/evil.so
WIREWRIGHT_SERVER=https://evil.example
WIREWRIGHT_RUN_CONFINEMENT=available
WIREWRIGHT_DATA=${HOME}
EMPTY
"""


def test_variables_that_are_read_are_set_and_others_are_not(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(FILE)
    environment = {"PATH": "/bin", "WIREWRIGHT_MODEL": "openai:x"}
    read_env_file(tmp_path, environment)
    assert environment == {
        "PATH": "/bin",
        "WIREWRIGHT_MODEL": "openai:x",
        "OPENAI_API_KEY": "sk-1 # not a comment",
        "WIREWRIGHT_RUN_VARIABLES": "SERPAPI_API_KEY, OTHER",
        "SERPAPI_API_KEY": "s",
        "WIREWRIGHT_DATA": "${HOME}",
        "WIREWRIGHT_CACHE": str(user_data_path("wirewright", appauthor=False) / "cache"),
    }


@pytest.mark.parametrize(
    "written",
    [
        "WIREWRIGHT_RUN_CONFINEMENT=available",
        "wirewright_run_confinement=available",
        "WireWright_Run_Confinement=available",
        "WIREWRIGHT_RUN_VARIABLES=wirewright_run_confinement\nwirewright_run_confinement=available",
        "WIREWRIGHT_RUN_VARIABLES=WIREWRIGHT_RUN_CONFINEMENT\nWIREWRIGHT_RUN_CONFINEMENT=available",
        "export WIREWRIGHT_RUN_CONFINEMENT='available'",
    ],
)
def test_a_folder_does_not_decide_whether_runs_are_confined(tmp_path: Path, written: str) -> None:
    (tmp_path / ".env").write_text(written)
    environment: dict[str, str] = {}
    read_env_file(tmp_path, environment)
    assert {name for name in environment if name.upper().endswith("CONFINEMENT")} == set()


@pytest.mark.parametrize("written", ["WIREWRIGHT_CACHE={}/cache", "WIREWRIGHT_DATA={}"])
def test_a_folder_does_not_decide_which_engine_is_started(tmp_path: Path, written: str) -> None:
    (tmp_path / ".env").write_text(written.format(tmp_path))
    environment: dict[str, str] = {}
    read_env_file(tmp_path, environment)
    assert str(tmp_path) not in environment.get("WIREWRIGHT_CACHE", "")
    assert ("WIREWRIGHT_CACHE" in environment) == ("WIREWRIGHT_DATA" in environment)


def test_the_users_own_cache_stays(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"WIREWRIGHT_DATA={tmp_path}\nWIREWRIGHT_CACHE={tmp_path}\n")
    environment = {"WIREWRIGHT_CACHE": "/mine"}
    read_env_file(tmp_path, environment)
    assert environment == {"WIREWRIGHT_CACHE": "/mine", "WIREWRIGHT_DATA": str(tmp_path)}


@pytest.mark.parametrize(
    ("name", "is_set"),
    [
        *(("SERPAPI_API_KEY", True), ("S3_ACCOUNT_ID", True), ("DB_PASSWORD", True), ("DB_USER", True)),
        *(("LD_PRELOAD", False), ("PYTHONPATH", False), ("DYLD_INSERT_LIBRARIES", False), ("UV_INDEX_URL", False)),
        *(("ssl_key", False), ("HTTPS_PROXY", False), ("SSL_CERT_FILE", False)),
    ],
)
def test_a_folder_names_secrets_for_runs_and_nothing_that_programs_are_started_with(
    tmp_path: Path, name: str, is_set: bool
) -> None:
    (tmp_path / ".env").write_text(f"WIREWRIGHT_RUN_VARIABLES={name}\n{name}=value\n")
    environment: dict[str, str] = {}
    read_env_file(tmp_path, environment)
    assert (name in environment) == is_set


def test_without_a_file_nothing_changes(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    read_env_file(tmp_path, environment)
    assert environment == {}


def test_a_file_that_is_no_text_is_named_and_its_content_is_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".env").write_bytes(b"OPENAI_API_KEY=\xff\xfe")
    environment: dict[str, str] = {}
    read_env_file(tmp_path, environment)
    assert environment == {}
    said = capsys.readouterr().err
    assert ".env was not read" in said
    assert "OPENAI" not in said
