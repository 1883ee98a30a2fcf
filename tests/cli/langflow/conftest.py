"""The command with data of its own, beside a Langflow that is connected."""

import json
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Done, Wirewright
from tests.runtime.langflow.stand_in import KEY, StandInLangflow, langflow


@dataclass
class Beside:
    """The command, and the Langflow that it is connected to.

    Attributes:
        there: the Langflow.
        run: runs a command.
        file: a flow as Langflow JSON.
        folder: where files may be written.
    """

    there: StandInLangflow
    run: Wirewright
    file: Path
    folder: Path

    def document(self) -> dict[str, Any]:
        """The flow in the file."""
        return json.loads(self.file.read_text())

    def edit(self, old: str, new: str) -> None:
        """Change a text in the file."""
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))

    def theirs(self) -> dict[str, Any]:
        """The only flow there."""
        (flow,) = self.there.flows.values()
        return flow

    def pushed(self) -> Done:
        """Send the file."""
        return self.run("flow", "push", self.file, "--langflow", "--json")


@pytest.fixture
def stand_in() -> Generator[StandInLangflow]:
    """A Langflow that is not connected yet."""
    with langflow() as there:
        yield there


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of the command."""
    monkeypatch.setenv("WIREWRIGHT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@pytest.fixture
def beside(
    stand_in: StandInLangflow, wirewright: Wirewright, louder_json: Path, own_data: Path, tmp_path: Path
) -> Beside:
    """The command with a connected Langflow."""
    assert wirewright("langflow", "connect", stand_in.url, stdin=KEY.encode()).code == 0
    stand_in.requests.clear()
    return Beside(stand_in, wirewright, louder_json, tmp_path)
