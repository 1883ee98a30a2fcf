"""A project of a user's, whose packages have the names of ours."""

from pathlib import Path

import pytest

FOREIGN = ("agent", "cli", "evals", "flows", "runtime", "server", "tools")
PLAYER = '''
"""A player of the user's own: whatever is asked, it answers with an echo."""

from wirewright import Catalogue, TurnRequest, build

ECHO = """
name: Echo
nodes:
  chat: ChatInput
  answer: ChatOutput
edges:
  chat.message -> answer.input_value
"""


async def play(request: TurnRequest) -> dict[str, object]:
    flow = build(ECHO, Catalogue.load()).flow
    assert flow is not None
    return {"flow": flow.to_json(), "text": "I built an echo flow."}
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's project with packages that have the names of ours; each says so when it is imported."""
    for name in FOREIGN:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f'WHOSE = "the user\'s {name}"\n')
    (tmp_path / "agent" / "player.py").write_text(PLAYER)
    return tmp_path
