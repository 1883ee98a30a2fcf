"""The scenarios cover what people build and ask, and the manual says how much."""

from collections import Counter

import pytest

from evals.analysis.tally import read_verdicts
from evals.scenarios.coverage import KINDS, LANGUAGES, canvas_uses, kind_of, language_of, types_in_references
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from scripts.baseline import BASELINE
from scripts.checkout import marked
from scripts.task_set import MANUAL, coverage_tables, engine_catalogue
from tests.evals.conftest import scenarios

AGAIN = "python -m scripts.task_set"


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
    text = coverage_tables(scenarios(), engine_types, list(read_verdicts(BASELINE)))
    assert found.group(0) == f"{found[1]}{text}{found[2]}", AGAIN
