"""The runner against lfx itself, compared inside the engine's own environment."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from runtime.guard.executed import EXECUTING
from runtime.install.environment import RunnerEnvironment

pytestmark = [pytest.mark.engine]


def test_the_catalogue_holds_all_that_lfx_knows_and_the_installed_bundles(
    inside: Callable[[str], Any], runner_environment: RunnerEnvironment
) -> None:
    known = inside("registry")
    exported = json.loads(runner_environment.catalogue.read_text(encoding="utf-8"))["components"]
    assert known["bundles"] == ["lfx-openai"]
    assert known["bundled"]
    ours = {"FileVectorStore"}
    assert set(exported) == set(known["code"]) | set(known["bundled"]) | ours
    for kind, code in known["code"].items():
        assert exported[kind]["template"]["code"]["value"] == code
        assert [output["name"] for output in exported[kind]["outputs"]] == known["outputs"][kind]
    assert all(node["category"] for node in exported.values())
    assert all(exported[kind]["template"]["code"]["value"] for kind in known["bundled"])


def test_every_type_that_lfx_says_executes_code_is_refused(
    inside: Callable[[str], Any], runner_environment: RunnerEnvironment
) -> None:
    exported = json.loads(runner_environment.catalogue.read_text(encoding="utf-8"))["components"]
    assert set(inside("executing")) & set(exported) <= set(EXECUTING)


def test_values_without_an_end_are_too_large_and_others_are_converted(inside: Callable[[str], Any]) -> None:
    assert inside("converted") == {
        "forever": ["ResultTooLarge", "ResultTooLarge"],
        "twice": ["ResultTooLarge", "ResultTooLarge"],
        "texts": ["ResultTooLarge", '"List[Text]"'],
        "plain": ['[{"a": [1, "b"]}, 2.5]', '"List"'],
    }


def test_the_runners_result_is_what_lfx_gives(inside: Callable[[str], Any]) -> None:
    compared = inside("runs")
    result = compared["runner"]
    assert compared["lfx"] == "a\n\nb"
    assert result["output"] == compared["lfx"]
    assert list(result["outputs"].values()) == [compared["lfx"]]
    assert result["failure"] is None
    assert result["metrics"]["peak_mb"] > 0


def test_types_are_renamed_by_the_index_as_lfx_renames_them(inside: Callable[[str], Any]) -> None:
    compared = inside("migrated")
    assert compared["types"] > 100
    assert compared["after"] == compared["before"]
    assert "NoSuchType" in json.dumps(compared["after"])
