"""What Wirewright adds to rounds of Chat2Workflow: checks of their own, and stand-ins for what a test cannot reach."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import Field, TypeAdapter

from evals.expectation import Strict, Text
from evals.scenario import ModelRule

ROUNDS: Final = Path(__file__).parent / "rounds.yaml"
"""The details by round, as `PaperQA_2`."""


class TestDetails(Strict):
    """What one test of a round expects beyond what its inputs say.

    Attributes:
        branch: which list of `output_var` it gives, from 0; None where it has one only.
        must: texts that must reach a model, whatever their letters' case.
        lacks: texts that must reach none.
        matches: patterns of the output; `{1}` in them is the mark of the test's first file, `{2}` of the second.
        equals: the whole output, in place of everything else.
    """

    __test__ = False

    branch: Annotated[int, Field(ge=0)] | None = None
    must: tuple[Text, ...] = ()
    lacks: tuple[Text, ...] = ()
    matches: tuple[Text, ...] = ()
    equals: Text | None = None


class RoundDetails(Strict):
    """What one round has beyond the benchmark's checks.

    Attributes:
        choosing: inputs that only choose a branch: they need not reach a model.
        must: texts that must reach a model in every test, such as a limit or a format that the user names.
        json_keys: the keys of the JSON object that models answer with and that the output must have.
        rules: answers of models that come before the general one.
        classes: by a word of the category's name, the pattern of texts that belong to it.
        texts: outputs that are files there, and texts here, such as lists of the files that were given.
        contents: by variable, the contents of stand-ins for its files, over and over; `{mark}` tells one from others.
        pages: by ending of the path, what a page answers below an address that a test gives; `{mark}` as before.
        hint: a sentence that the user adds.
        tests: the details of tests, by name.
    """

    choosing: tuple[Text, ...] = ()
    must: tuple[Text, ...] = ()
    json_keys: tuple[Text, ...] = ()
    rules: tuple[ModelRule, ...] = ()
    classes: dict[Text, Text] = Field(default_factory=dict[str, str])
    texts: tuple[Text, ...] = ()
    contents: dict[Text, tuple[Text, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    pages: dict[Text, Text] = Field(default_factory=dict[str, str])
    hint: Text | None = None
    tests: dict[Text, TestDetails] = Field(default_factory=dict[str, TestDetails])


_DETAILS: Final = TypeAdapter(dict[str, RoundDetails])
NO_DETAILS: Final = RoundDetails()
NO_TEST: Final = TestDetails()


@cache
def round_details() -> Mapping[str, RoundDetails]:
    """The details of the rounds that have some."""
    return _DETAILS.validate_json(json.dumps(yaml.safe_load(ROUNDS.read_text(encoding="utf-8"))))
