"""Reading conversations from their files."""

from pathlib import Path

from evals.conversations.course import ConversationCase
from evals.scenarios.loader import ScenarioError, load_case

FOLDER = Path(__file__).parent / "cases"
"""The folder of the conversations that come with Wirewright."""


def load_conversations(folder: Path = FOLDER) -> tuple[ConversationCase, ...]:
    """Read every conversation of a folder, by id.

    Raises:
        ScenarioError: one of them cannot be used, or none is found.
    """
    found = tuple(
        load_case(path, ConversationCase) for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem)
    )
    if not found:
        raise ScenarioError(folder.name, "holds no conversations (*.yaml)")
    return found
