"""Samples of component source, hostile and benign, with placeholders for what a test sets up around them."""

import threading
from dataclasses import dataclass, field
from pathlib import Path

from tests.shared.yaml_files import read_yaml

HERE = Path(__file__).parent
SECRET = "canary-7f3a91"
ENGINE = "engine"
"""What a sample needs that shows its effect in a flow of the engine, after a node that holds the secret."""
_WRAPPED = """\
from lfx.custom import Component
from lfx.io import MessageTextInput, Output


class Sample(Component):
    display_name = "Sample"
    inputs = [MessageTextInput(name="text", display_name="Text", value="hello")]
    outputs = [Output(display_name="Result", name="result", method="build_result")]

    def build_result(self):
"""
_IN_THE_ENGINE = """\
from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.message import Message


class Sample(Component):
    display_name = "Sample"
    inputs = [
        MessageTextInput(name="text", display_name="Text", value="hello"),
        MessageTextInput(name="after", display_name="After"),
    ]
    outputs = [Output(display_name="Result", name="result", method="build_result")]

    def build_result(self) -> Message:
"""


@dataclass(frozen=True)
class Sample:
    """A component source with placeholders for what a test sets up around it."""

    name: str
    code: str
    needs: str
    proof: str

    def __str__(self) -> str:
        return self.name

    def source(self, folder: Path = Path("/srv/ww"), port: int = 9) -> str:
        """The source with the places of a canary filled in."""
        places = {"FILE": "canary.txt", "MARK": "mark", "VICTIM": "victim", "VICTIMS": "victims", "INI": "canary.ini"}
        text = (
            self.code.replace("@PORT@", str(port)).replace("@DIR@", str(folder)).replace("@CODE@", f"{folder}/code.py")
        )
        for place, name in places.items():
            text = text.replace(f"@{place}@", str(folder / name))
        return text


def samples(kind: str) -> list[Sample]:
    """Every sample of the files whose names begin with `kind`."""
    found: list[Sample] = []
    for path in sorted((HERE / "samples").glob(f"{kind}_*.yaml")):
        for row in read_yaml(path):
            body = "".join(f"        {line}\n" for line in row.get("body", "").splitlines())
            head = _IN_THE_ENGINE if row.get("needs") == ENGINE else _WRAPPED
            code = row.get("code") or head + body
            found.append(Sample(row["id"], code, row.get("needs", ""), row.get("proof", "")))
    return found


def ways_around() -> dict[str, str]:
    """Every source that would go a way around the list, by its name."""
    return {
        f"{path.stem.removeprefix('ways_')}_{name}": source
        for path in sorted((HERE / "samples").glob("ways_*.yaml"))
        for name, source in read_yaml(path).items()
    }


@dataclass
class Listener:
    """A loopback port that remembers whether anyone connected."""

    port: int
    called: threading.Event = field(default_factory=threading.Event)
