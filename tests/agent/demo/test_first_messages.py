"""What people type first, in eight languages: most of it works or is refused honestly, and nothing is silently wrong.

`first_messages_seen.yaml` was at hand while the recipes were written, `first_messages_unseen.yaml` was not. When it was
opened, 75 of its 96 rows were useful and 12 were wrong: parts that no flow can do were not named, because they were
looked for in a list of words. Now every part that no recipe knows is named; both halves are held to the same rates.
`first_messages_fresh.yaml` was written later by somebody who had seen neither. At first 69 of its 96 rows were useful,
11 declined, 1 useless and 15 wrong: branches without a text were dropped, vector search became a prompt with the whole
file, images and voice went unnamed. These are mended; of two rows the expectation was widened, as their notes say.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from agent.assistant import Assistant
from agent.demo.reading import read
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded
from flows.catalogue import Catalogue
from runtime.install.environment import RunnerEnvironment
from tests.agent.demo.first_messages import FirstMessage, Judgement, canvas, first_messages, judge
from tests.processes.installation import once
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.engine
LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ja", "zh")
ROWS = [*first_messages("seen"), *first_messages("unseen"), *first_messages("fresh")]
JUDGEMENTS = TypeAdapter(dict[str, Judgement])
README = Path(__file__).parents[3] / "README.md"


async def judged(row: FirstMessage, catalogue: Catalogue) -> Judgement:
    before = canvas(row.canvas, catalogue)
    who = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)
    async with who.turn(TurnRequest(text=row.message, flow=before, apply="always")) as stream:
        events = [event async for event in stream]
    await who.aclose()
    assert isinstance(events[-1], TurnEnded)
    return judge(row, events[-1].result, before)


@pytest.fixture(scope="session")
def judged_language(
    runner_environment: RunnerEnvironment, shared_folder: Path
) -> Callable[[str], Mapping[str, Judgement]]:
    """The judgements of a language's rows by id; each language is judged once for all workers of a run."""

    @cache
    def of(language: str) -> Mapping[str, Judgement]:
        path = shared_folder / f"first-messages-{language}.json"

        async def every() -> dict[str, Judgement]:
            catalogue = Catalogue.load(runner_environment.catalogue)
            return {row.id: await judged(row, catalogue) for row in ROWS if row.language == language}

        def judge_all() -> None:
            path.write_bytes(JUDGEMENTS.dump_json(asyncio.run(every())))

        once(path, judge_all)
        return JUDGEMENTS.validate_json(path.read_bytes())

    return of


@pytest.fixture(scope="session")
def judgements(judged_language: Callable[[str], Mapping[str, Judgement]]) -> Mapping[str, Judgement]:
    """The judgements of all rows by id."""
    return {name: one for language in LANGUAGES for name, one in judged_language(language).items()}


@pytest.mark.table
@pytest.mark.parametrize("language", LANGUAGES)
def test_most_first_messages_are_answered_usefully_or_refused_honestly(
    language: str, judged_language: Callable[[str], Mapping[str, Judgement]]
) -> None:
    rows = [row for row in ROWS if row.language == language]
    assert len(rows) == 25 + 12
    judgements = judged_language(language)
    verdicts = Counter(judgements[row.id].verdict for row in rows)
    assert verdicts["useful"] + verdicts["declined"] >= 0.85 * len(rows), verdicts


@pytest.mark.table
@pytest.mark.parametrize("language", LANGUAGES)
def test_most_of_what_can_be_built_or_answered_is(
    language: str, judged_language: Callable[[str], Mapping[str, Judgement]]
) -> None:
    judgements = judged_language(language)
    rows = [row for row in ROWS if row.language == language and row.buildable]
    assert sum(judgements[row.id].verdict == "useful" for row in rows) >= 0.6 * len(rows)


def test_nothing_is_silently_wrong(judgements: Mapping[str, Judgement]) -> None:
    assert {name: found.reason for name, found in judgements.items() if found.verdict == "wrong"} == {}


def test_the_language_of_a_first_message_is_known() -> None:
    known = [row for row in ROWS if read(row.message).language == row.language]
    assert len(known) >= 0.97 * len(ROWS), [row.message for row in ROWS if row not in known]


def test_the_readme_says_how_many(judgements: Mapping[str, Judgement]) -> None:
    counts = Counter(found.verdict for found in judgements.values())
    buildable = [row for row in ROWS if row.buildable]
    done = sum(judgements[row.id].verdict == "useful" for row in buildable)
    said = re.sub(r"\s+", " ", README.read_text(encoding="utf-8"))
    assert f"{counts['useful'] + counts['declined']} of {len(ROWS)} answered usefully or declined honestly" in said
    assert f"{done} of {len(buildable)} that can be built or answered" in said
