"""Rounds of the benchmark's shape, offline: each is passed by the flow beside it, and by none that misses a part.

Most runs are recorded. `WIREWRIGHT_RECORD_ROUNDS=missing pytest tests/evals/imports/test_rounds.py -n 0` makes those
that are missing, and `=all` makes all of them anew, which takes some minutes.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from agent.settings import AssistantSettings
from evals.imports.chat2workflow.scenarios import Imported
from evals.play.environment import PlayEnvironment
from evals.play.flow_check import FlowCheck, check_flow
from flows.catalogue import Catalogue
from tests.evals.imports.recorded import RecordedRunner, Recordings
from tests.evals.imports.rounds import flows, imported, tasks
from tools.workbench import FlowRunner

pytestmark = pytest.mark.anyio

RECORDING = os.environ.get("WIREWRIGHT_RECORD_ROUNDS", "")
NOT_PASSABLE = {"Code_2": "no run executes code that a model wrote in it"}
"""Rounds that no flow passes offline, and why."""
PASSABLE = [key for key in flows() if key not in NOT_PASSABLE]
LIVE = PASSABLE[::16]
"""Rounds whose flows always run on the engine."""
ECHO = "nodes:\n  chat: ChatInput\n  out: ChatOutput\nedges:\n  chat.message -> out.input_value\n"
NEAR_MISSES = {
    "PaperDeepReader_1": ("at most 800 words, ", ""),
    "PaperDeepReader_4": ("write.text_output -> w.input", "read.text_output -> w.input"),
    "PaperQA_2": ('"name": "evidence"', '"name": "proof"'),
    "PaperQA_3": ("answer and evidence", "answer and proof"),
    "BookCharacter_2": ('w.file_name: "biography"', 'w.file_name: "story"'),
    "DeepResearch_1": ("at most 600 words, from what was found", "from what was found"),
    "InvoiceParsing_2": ("(?is).*taxi", "(?is).*tax"),
    "ExcelExtract_2": (
        "drawn.true_result -> chart.kind\n  drawn.false_result",
        "drawn.false_result -> chart.kind\n  drawn.true_result",
    ),
    "Translation_1": ("second.text_output -> out", "first.text_output -> out"),
    "Translation_3": ("url: *http", "uri: *http"),
    "ContractReview_1": ("review.text_output -> form", "points.text_output -> form"),
    "ResumeScreening_1": ('sales.filter_value: "SALES"', 'sales.filter_value: "TEACHER"'),
    "MeetingSummary_1": ("10-20% of its length", "half as long"),
    "PerformanceChart_3": ("by quarter", "by month"),
    "GithubSummary_3": ("{url}/tree", "{url}/trees"),
    "Mermaid_2": ("http", "ftp"),
    "Code_1": ("signatures only, no bodies, ", ""),
    "ExamQuestion_1": ("at most 20 words", "short"),
    "HomeworkGrading_2": ("(?i).*history", "(?i).*english"),
    "HTML_3": ('"Invalid"', '"invalid"'),
    "Podcast_2": ("join.prompt -> q.input_data", "chat.message -> q.input_data"),
    "Copywriting_2": ("280 characters", "300 characters"),
}
"""By round, what is replaced in its right flow by what makes it wrong."""


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Imported]:
    """Every round as it is imported, by `Task_N`."""
    return imported(tmp_path_factory.mktemp("chat2workflow"))


@pytest.fixture(scope="module")
def recordings() -> Recordings:
    """The runs that are recorded; none while all are made anew."""
    found = Recordings()
    if RECORDING == "all":
        found.runs.clear()
    return found


class OfflineCheck:
    """Checks flows against rounds, with recorded runs."""

    def __init__(self, rounds: dict[str, Imported], recordings: Recordings, environment: PlayEnvironment) -> None:
        self._rounds = rounds
        self._recordings = recordings
        self._environment = environment
        self.used: set[str] = set()

    async def __call__(self, key: str, flow: str, runner: FlowRunner | None = None) -> FlowCheck:
        """Check a flow against a round; without a runner all its runs are recorded."""
        scenario = self._rounds[key].scenario
        recorded = RecordedRunner(runner, scenario, self._environment.catalogue.version, self._recordings)
        environment = replace(self._environment, runner=cast("FlowRunner", recorded))
        try:
            return await check_flow(scenario, flow, environment)
        finally:
            self.used |= recorded.used


@pytest.fixture(scope="module")
def check(
    rounds: dict[str, Imported],
    recordings: Recordings,
    full_catalogue: Catalogue,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[OfflineCheck]:
    """Checks flows; at the end of a recording session, what was used is kept."""
    settings = AssistantSettings(model="demo", data=tmp_path_factory.mktemp("data"))
    stage = PlayEnvironment(settings=settings, catalogue=full_catalogue, runner=cast("FlowRunner", None))
    found = OfflineCheck(rounds, recordings, stage)
    yield found
    if RECORDING:
        recordings.save(found.used if RECORDING == "all" else set(recordings.runs))


@pytest.fixture
def runner(request: pytest.FixtureRequest) -> FlowRunner | None:
    """The engine, while runs are recorded."""
    if not RECORDING:
        return None
    stage: PlayEnvironment = request.getfixturevalue("engine_environment")
    return stage.runner


def failure(check: FlowCheck) -> str:
    """Why a flow does not pass; empty if it does."""
    return "" if check.ok else check.verdict.harness_error or check.verdict.why


def test_at_least_seventy_of_the_seventy_nine_rounds_are_passable_offline() -> None:
    assert len(flows()) == 79
    assert len(tasks()) == 27
    assert len(PASSABLE) >= 70
    assert set(NOT_PASSABLE) <= set(flows())


@pytest.mark.table
@pytest.mark.engine
@pytest.mark.parametrize("key", PASSABLE)
async def test_a_round_is_passed_by_its_right_flow(key: str, check: OfflineCheck, runner: FlowRunner | None) -> None:
    assert failure(await check(key, flows()[key], runner)) == ""


@pytest.mark.engine
@pytest.mark.parametrize("key", LIVE)
async def test_the_engine_still_gives_what_was_recorded(
    key: str, rounds: dict[str, Imported], engine_environment: PlayEnvironment
) -> None:
    assert failure(await check_flow(rounds[key].scenario, flows()[key], engine_environment)) == ""


@pytest.mark.table
@pytest.mark.engine
@pytest.mark.parametrize("key", list(flows()))
async def test_a_flow_that_says_what_it_was_told_passes_no_round(
    key: str, check: OfflineCheck, runner: FlowRunner | None
) -> None:
    found = await check(key, ECHO, runner)
    assert "resolved: probe" in found.verdict.why


@pytest.mark.table
@pytest.mark.engine
@pytest.mark.parametrize("key", list(NEAR_MISSES))
async def test_a_flow_that_misses_one_thing_fails_by_what_it_gives(
    key: str, check: OfflineCheck, runner: FlowRunner | None
) -> None:
    before, after = NEAR_MISSES[key]
    assert before in flows()[key]
    found = await check(key, flows()[key].replace(before, after), runner)
    assert found.verdict.harness_error is None
    assert "resolved: probe" in found.verdict.why


@pytest.mark.engine
@pytest.mark.parametrize("key", list(NOT_PASSABLE))
async def test_a_round_that_is_not_passable_fails_for_its_reason(
    key: str, check: OfflineCheck, runner: FlowRunner | None
) -> None:
    found = await check(key, flows()[key], runner)
    assert "resolved: probe" in found.verdict.why
