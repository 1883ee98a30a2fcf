"""The manual's page on spec text: every example in it builds."""

import re
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.fingerprints import fingerprint
from flows.spec import build, print_spec

PAGE = (Path(__file__).parents[3] / "docs" / "spec-text.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_has_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("spec", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_builds_and_prints_to_the_same_flow(spec: str, catalogue: Catalogue):
    result = build(spec, catalogue)
    assert result.flow is not None, result.faults
    assert not [fault for fault in result.faults if fault.is_error]
    said = print_spec(result.flow, catalogue)
    assert said.faults == ()
    again = build(said.text, catalogue).flow
    assert again is not None
    assert fingerprint(again) == fingerprint(result.flow)
