"""Spec text is read in one pass over each line, whatever stands there."""

import re

import pytest

from flows.spec import parse
from flows.spec.parse import PATTERNS

LONG = 100_000


@pytest.mark.parametrize("pattern", PATTERNS, ids=range(len(PATTERNS)))
def test_no_pattern_gives_back_what_it_took(pattern: re.Pattern[str], capsys: pytest.CaptureFixture[str]) -> None:
    re.compile(pattern.pattern, re.DEBUG)
    tree = capsys.readouterr().out
    assert "MIN_REPEAT" not in tree
    assert not re.search(r"MAX_REPEAT \d+ MAXREPEAT", tree)


@pytest.mark.parametrize(
    ("section", "line", "codes"),
    [
        ("nodes", "a" + " " * LONG + "b", ["bad_node"]),
        ("edges", "a -> b." + "-" * LONG, []),
        ("edges", "a" + " " * LONG + "b -> c", []),
        ("edges", "a." + " " * LONG + "> b", ["bad_edge"]),
        ("edges", "-" * LONG, ["bad_edge"]),
        ("edges", "a" + " -> a" * (LONG // 100) + ">", ["bad_edge"]),
        ("config", "a.b" + " " * LONG + "c", ["bad_config"]),
        ("config", "a.b: [" + '"\\"' * LONG, []),
        ("config", "a.b: c" + " " * LONG + "d", []),
    ],
)
def test_a_long_line_is_read(section: str, line: str, codes: list[str]) -> None:
    spec, faults = parse(f"nodes:\n  a: ChatInput\n  b: ChatOutput\n  c: ChatOutput\n{section}:\n  {line}\n")
    assert [fault.code for fault in faults] == codes
    assert [node.id for node in spec.nodes] == ["a", "b", "c"]


def test_every_line_of_a_long_list_is_a_part_of_it() -> None:
    rows = ",\n".join(f'    "row: {number}"' for number in range(20_000))
    spec, faults = parse(f"nodes:\n  a: ChatInput\nconfig:\n  a.rows: [\n{rows}\n  ]\n  a.after: yes\n")
    assert faults == ()
    assert [value.field for value in spec.values] == ["rows", "after"]
    assert spec.values[0].text.count("\n") == 20_001
