"""Flows that version 0.1 exported, and spec texts that it printed, under today's commands."""

from pathlib import Path

import pytest

from tests.cli.conftest import Wirewright
from tests.compatibility.conftest import V0_1

FLOWS = V0_1 / "flows"
PRINTED = {"louder": "louder.flow", "pair": "pair.flow", "tricky": "tricky.printed.flow"}


@pytest.mark.parametrize("name", PRINTED)
def test_an_export_is_whole_and_prints_the_same_spec(name: str, excerpt: Path, wirewright: Wirewright) -> None:
    checked = wirewright("flow", "check", FLOWS / f"{name}.json", "--json")
    printed = wirewright("flow", "spec", FLOWS / f"{name}.json")
    assert (checked.code, checked.json["ok"]) == (0, True)
    assert printed.code == 0
    assert printed.out.encode() == (FLOWS / PRINTED[name]).read_bytes()


@pytest.mark.parametrize("spec", ["louder.flow", "pair.flow", "tricky.flow", "tricky.printed.flow"])
def test_a_spec_builds_the_flow_that_was_exported(
    spec: str, excerpt: Path, wirewright: Wirewright, tmp_path: Path
) -> None:
    built = tmp_path / "built.json"
    assert wirewright("flow", "build", FLOWS / spec, "--out", built).code == 0
    again = wirewright("flow", "spec", built)
    assert again.out.encode() == (FLOWS / PRINTED[spec.split(".")[0]]).read_bytes()


def test_an_export_with_a_component_of_the_users_own_is_printed(excerpt: Path, wirewright: Wirewright) -> None:
    printed = wirewright("flow", "spec", FLOWS / "counting.json")
    assert printed.code == 0
    assert printed.out.encode() == (FLOWS / "counting.flow").read_bytes()
    assert "[unsaid_type]" in printed.err


def test_an_export_and_what_is_built_today_do_not_differ(excerpt: Path, wirewright: Wirewright, tmp_path: Path) -> None:
    built = tmp_path / "built.json"
    assert wirewright("flow", "build", FLOWS / "tricky.flow", "--out", built).code == 0
    done = wirewright("flow", "diff", FLOWS / "tricky.json", built, "--json")
    assert (done.code, done.json["actions"]) == (0, [])
