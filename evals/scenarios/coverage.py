"""What a set of scenarios covers: kinds, languages, component types and canvases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, TypeAlias, get_args

from agent.language.detect import best_language
from evals.cluster_keys import canvas_key
from evals.scenario import Scenario
from evals.scenarios.flows import read_named
from flows.catalogue import Catalogue

Kind: TypeAlias = Literal["build", "edit", "debug", "run", "files", "question", "ask", "refuse"]
"""What a scenario is about in the end."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

LANGUAGES: Final = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "it": "Italian",
    "ja": "Japanese",
    "zh": "Chinese",
}
"""The languages that scenarios are written in, by code."""


def kind_of(scenario: Scenario) -> Kind:
    """What a scenario is about: what its last message that acts changes, else how its last message is to be answered.

    A flow that is built is one on an empty canvas; one that stays as it is is run; a scenario without a flow is about
    files. A scenario is about debugging when its tags say so.
    """
    if not scenario.acts:
        should = scenario.turns[-1].should
        return "ask" if should == "ask" else "refuse" if should == "refuse" else "question"
    if "debug" in scenario.tags:
        return "debug"
    if scenario.reference is None and not scenario.open:
        return "files"
    if scenario.canvas is None:
        return "build"
    return "run" if scenario.reference == scenario.canvas else "edit"


def language_of(scenario: Scenario) -> str:
    """The code of the language that most of its messages are in, by their length; English if it cannot be told."""
    return _language(" ".join(scenario.prompts))


@lru_cache(maxsize=1024)
def _language(text: str) -> str:
    return best_language(text, LANGUAGES)[0] or "en"


def types_in_references(scenarios: Iterable[Scenario], catalogue: Catalogue) -> Counter[str]:
    """In how many scenarios each component type of the catalogue occurs, in the reference or the flow of a message.

    Scenarios with component types of their own are left out.

    Raises:
        BadFlow: a flow does not build.
    """
    found: Counter[str] = Counter()
    for scenario in scenarios:
        if scenario.components:
            continue
        texts = [text for text in (scenario.reference, *(turn.flow for turn in scenario.turns)) if text is not None]
        nodes = [node for text in texts for node in read_named("a reference", text, catalogue).components]
        found.update({node.type for node in nodes if catalogue.get(node.type) is not None})
    return found


def canvas_uses(scenarios: Iterable[Scenario]) -> Counter[str]:
    """How often each canvas is the start of a scenario; a name, blank lines and trailing spaces make no difference."""
    return Counter(key for scenario in scenarios if (key := canvas_key(scenario)) is not None)
