"""The commands of the manual of what is stored, as they stand there."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Wirewright

MANUAL = Path(__file__).parents[3] / "docs" / "storage.md"


def test_the_commands_of_the_manual_work(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```", MANUAL.read_text(), re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) == 5
    for line in lines:
        name, *arguments = shlex.split(line)
        done = wirewright(*arguments)
        assert (name, done.code) == ("wirewright", 0), (line, done.err)
