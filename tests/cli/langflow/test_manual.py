"""The manual of a running Langflow shows what happens."""

import re
import shlex
from pathlib import Path

from tests.cli.conftest import ROOT, Wirewright
from tests.runtime.langflow.stand_in import KEY, StandInLangflow

PAGE = (ROOT / "docs" / "langflow.md").read_text()
SHOWN = "http://127.0.0.1:7860"


def test_the_commands_of_the_manual_print_what_it_shows(
    stand_in: StandInLangflow, wirewright: Wirewright, louder_json: Path, own_data: Path
) -> None:
    assert louder_json.parent == Path.cwd()
    shown = "".join(re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
    seen = ""
    for line in re.findall(r"^\$ wirewright (.*)$", shown, re.MULTILINE):
        words, _, typed = line.replace(SHOWN, stand_in.url).partition(" < ")
        done = wirewright(*shlex.split(words), stdin=KEY.encode() if typed else b"")
        assert done.code == 0, (line, done.err)
        seen += f"$ wirewright {line}\n{done.err}{done.out}".replace(stand_in.url, SHOWN)
    assert seen == shown
