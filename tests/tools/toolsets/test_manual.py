"""The manual that questions are answered from."""

from pathlib import Path
from typing import get_args

import pytest

import tools.manual
from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import play, scripted_assistant
from tools.manual import TOPICS, Topic, page


def test_every_topic_has_a_page_and_every_page_a_topic() -> None:
    folder = Path(tools.manual.__file__).parent
    assert {path.stem for path in folder.glob("*.md")} == set(TOPICS) == set(get_args(Topic))
    assert all(page(topic).startswith("# ") and len(page(topic)) < 1_500 for topic in TOPICS)
    with pytest.raises(KeyError):
        page("../secrets")


@pytest.mark.anyio
async def test_a_question_about_the_assistant_is_answered_from_the_manual(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(
        catalogue, "question", call("read_manual", 1, topic="approvals"), "You approve texts."
    )
    result = await play(who, "When do I have to approve something?")
    assert (result.outcome, result.text) == ("complete", "You approve texts.")
    assert "Approvals" in str(script.requests[-1][-1].parts[0].content)
