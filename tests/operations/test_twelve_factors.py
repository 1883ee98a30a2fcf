"""The page of the twelve factors: all twelve, each rated, with places that exist and the gap."""

import re

import pytest

from scripts.twelve_factors import PAGE, PLACE, LostPlace, current, line_of

FACTORS = [
    *("Codebase", "Dependencies", "Config", "Backing services", "Build, release, run", "Processes", "Port binding"),
    *("Concurrency", "Disposability", "Dev/prod parity", "Logs", "Admin processes"),
]
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]


def test_the_places_are_up_to_date() -> None:
    assert current(TEXT) == TEXT, "python -m scripts.twelve_factors"


@pytest.mark.parametrize(("number", "name"), list(enumerate(FACTORS)))
def test_a_factor_has_a_rating_places_and_a_gap(number: int, name: str) -> None:
    assert len(SECTIONS) == len(FACTORS)
    title, _, body = SECTIONS[number].partition("\n")
    found = re.fullmatch(r"[IVX]+\. (.+): (strong|partial|weak)", title)
    assert found is not None
    assert found[1] == name
    assert PLACE.search(body)
    [gap] = re.findall(r"^Gap: (.+)$", body, re.MULTILINE)
    assert found[2] == "strong" or gap != "none known."


def test_a_place_that_moved_is_found_again_and_one_that_is_gone_is_named() -> None:
    moved = TEXT.replace("(../server/drain.py#L", "(../server/drain.py#L9").replace(
        "[server/drain.py:", "[server/drain.py:9"
    )
    assert moved != TEXT
    assert current(moved) == TEXT
    for wrong in ("[server/drain.py:1](../server/drain.py#L1) `no such line`", "[no/such.py:1](../no/such.py#L1) `x`"):
        with pytest.raises(LostPlace, match=r"server/drain\.py|no/such\.py"):
            current(wrong)
    with pytest.raises(LostPlace, match="lines with"):
        line_of(PAGE, "Gap: ")
