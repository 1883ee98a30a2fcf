"""The scenarios cover what people build and ask, and the manual says how much."""

import re
from collections import Counter
from collections.abc import Callable

import pytest

from evals.scenario import Scenario
from evals.scenarios.coverage import KINDS, LANGUAGES, canvas_uses, kind_of, language_of, types_in_references
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from scripts.checkout import marked
from scripts.task_set import MANUAL, coverage_tables, engine_catalogue
from tests.evals.conftest import scenarios

AGAIN = "python -m scripts.task_set"


def tagged(*names: str) -> Callable[[Scenario], bool]:
    """Whether a scenario has all of these tags."""
    return lambda one: set(names) <= set(one.tags)


def gives_an_agent_several_tools(one: Scenario) -> bool:
    """Whether several connections lead into one agent's tools."""
    given = Counter(re.findall(r"-> (\w+)\.tools", one.reference or ""))
    return max(given.values(), default=0) > 1


WHAT_PEOPLE_BUILD: dict[str, tuple[Callable[[Scenario], bool], int]] = {
    "retrieval over files": (tagged("retrieval"), 5),
    "the web": (tagged("web"), 5),
    "web APIs": (lambda one: "APIRequest" in (one.reference or ""), 10),
    "SQL": (tagged("sql"), 3),
    "MCP tools": (tagged("mcp"), 2),
    "webhooks": (tagged("webhook"), 3),
    "agents with several tools": (gives_an_agent_several_tools, 4),
    "loops": (tagged("loop"), 8),
    "debugging of starter projects": (lambda one: one.id.startswith("debug-starter-"), 5),
    "edits of large canvases": (tagged("edit", "large"), 10),
    "several turns with approvals": (lambda one: len(one.turns) > 1 and bool({"approval", "plan"} & set(one.tags)), 3),
}
"""What scenarios cover, how it is told, and how many do at least."""


@pytest.fixture(scope="module")
def engine_types() -> Catalogue:
    """All component types of the locked engine, which need no engine."""
    return engine_catalogue()


def test_there_are_three_hundred_scenarios_of_every_kind_in_eight_languages() -> None:
    assert len(scenarios()) >= 300
    kinds = Counter(kind_of(one) for one in scenarios())
    assert set(kinds) == set(KINDS)
    assert min(kinds[kind] for kind in ("build", "edit", "debug", "run", "question", "ask", "refuse")) >= 8
    languages = Counter(language_of(one) for one in scenarios())
    assert set(languages) == set(LANGUAGES)
    assert min(languages.values()) >= 4


@pytest.mark.parametrize("what", WHAT_PEOPLE_BUILD)
def test_what_people_build_is_covered(what: str) -> None:
    covers, least = WHAT_PEOPLE_BUILD[what]
    assert len([one.id for one in scenarios() if covers(one)]) >= least


def test_sixty_component_types_occur_in_reference_flows(engine_types: Catalogue) -> None:
    assert len(types_in_references(scenarios(), engine_types)) >= 60


def test_no_canvas_is_used_more_than_five_times() -> None:
    assert max(canvas_uses(scenarios()).values()) <= 5


def test_twenty_scenarios_have_flows_of_ten_components_and_more(engine_types: Catalogue) -> None:
    large = [
        one.id
        for one in scenarios()
        if not one.components and any(len(read_flow(text, engine_types).components) >= 10 for _, text in one.flows)
    ]
    assert len(large) >= 20


def test_the_manual_shows_what_is_covered(engine_types: Catalogue) -> None:
    found = marked("task-set").search(MANUAL.read_text(encoding="utf-8"))
    assert found is not None
    text = coverage_tables(scenarios(), engine_types)
    assert found.group(0) == f"{found[1]}{text}{found[2]}", AGAIN
