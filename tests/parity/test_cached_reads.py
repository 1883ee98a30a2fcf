"""Pure reads are made once a turn: the same question has the same answer, failures and the canvas are read anew."""

from collections.abc import Sequence
from typing import Any

import pytest

from agent.models.scripted import call
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import Reply, ScriptedModel, assistant, play

pytestmark = pytest.mark.anyio
DESCRIBE = [call("describe_component", 1, type="ChatInput")]
AGAIN = [call("describe_component", 2, type="ChatInput")]
KEPT_BY_THE_ORIGINAL = 100
OTHER = [call("describe_component", 3, type="ChatOutput")]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The types that the catalogue is asked to describe."""
    asked: list[str] = []
    describe = Catalogue.describe

    def counting(self: Catalogue, type: str, *rest: Any, **more: Any) -> str:
        asked.append(type)
        return describe(self, type, *rest, **more)

    monkeypatch.setattr(Catalogue, "describe", counting)
    return asked


async def asked(catalogue: Catalogue, *replies: Reply, texts: Sequence[str] = ("What is it?",)) -> ScriptedModel:
    """Turns of one session; questions, so that nothing else reads the catalogue."""
    model = ScriptedModel(*replies)
    who = assistant(catalogue, model)
    for text in texts:
        await play(who, text, session="s")
    return model


@pytest.mark.parity("scenario-cache-hit", "smoke-cache-first-only", "ADR-MCP-018")
async def test_the_same_read_twice_in_a_turn_is_made_once_and_answers_alike(
    catalogue: Catalogue, reads: list[str]
) -> None:
    model = await asked(catalogue, "question", DESCRIBE, AGAIN, "So it is.")
    first, second = model.tool_answers(3)
    assert first == second
    assert reads == ["ChatInput"]


@pytest.mark.parity("scenario-cache-args", "term-tool-result-cache")
async def test_reads_of_different_things_are_made_each_once(catalogue: Catalogue, reads: list[str]) -> None:
    await asked(catalogue, "question", DESCRIBE, OTHER, AGAIN, "So it is.")
    assert reads == ["ChatInput", "ChatOutput"]


@pytest.mark.parity("failure-cache-full", "assistant_tool_cache_eviction_total")
async def test_a_read_is_still_known_after_all_others_that_a_turn_may_make(
    catalogue: Catalogue, reads: list[str]
) -> None:
    assert AssistantSettings.model_fields["tool_limit"].default <= KEPT_BY_THE_ORIGINAL
    types = [one.type for one in catalogue]
    once = [call("describe_component", step, type=one) for step, one in enumerate(types, 1)]
    await asked(catalogue, "question", once, [call("describe_component", 200, type=types[0])], "So they are.")
    assert sorted(reads) == sorted(types), "the first of them is not read again"


@pytest.mark.parity("scenario-cache-reset", "smoke-cache-empty")
async def test_the_next_turn_reads_again(catalogue: Catalogue, reads: list[str]) -> None:
    await asked(catalogue, *("question", DESCRIBE, "It is.") * 2, texts=("What is it?", "And now?"))
    assert reads == ["ChatInput", "ChatInput"]


@pytest.mark.parity("scenario-cache-no-errors", "failure-cache-producer")
async def test_a_read_that_failed_is_made_again(catalogue: Catalogue, reads: list[str]) -> None:
    wrong = [[call("describe_component", step, type="Nothing")] for step in (1, 2)]
    await asked(catalogue, "question", *wrong, "There is none.")
    assert reads == ["Nothing", "Nothing"]
