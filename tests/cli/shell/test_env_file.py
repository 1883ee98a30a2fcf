"""The `.env` file: what it sets, what it may not, and what happens when it cannot be read."""

from pathlib import Path

import pytest

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
    }


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
