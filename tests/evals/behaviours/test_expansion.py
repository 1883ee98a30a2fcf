"""Inputs from declarations: the same every time, different ones, enough of them, and what each family tries."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from evals.behaviours.expansion import BadInputs, expand
from evals.behaviours.families import ENOUGH, Family, Inputs, Texts

FAMILIES: TypeAdapter[Family] = TypeAdapter(Family)
DECLARED = [
    {"kind": "texts"},
    {"kind": "given", "texts": ["a", "b"]},
    {"kind": "numbers_around", "border": 100.0},
    {"kind": "lengths_around", "length": 12},
    {"kind": "matches", "examples": ["urgent"]},
    {"kind": "matches", "examples": ["AB-1234"], "pattern": "[A-Z]{2}-\\d{4}"},
    {"kind": "lists", "separator": ","},
    {"kind": "files", "path": "notes.txt"},
    {"kind": "conversations", "messages": [["My name is Kim.", "Who am I?"]]},
]


def family(declared: object) -> Family:
    """A family as a scenario file declares it."""
    return FAMILIES.validate_json(json.dumps(declared))


families = st.lists(st.sampled_from(DECLARED), min_size=1, max_size=4).map(lambda found: [*map(family, found)])


@given(families, st.integers(0, 99), st.from_regex(r"[a-z]{1,8}", fullmatch=True))
def test_the_same_seed_gives_the_same_inputs_and_no_input_twice(chosen: list[Family], seed: int, name: str) -> None:
    declared = Inputs(derive=True, seed=seed)
    whole = [*chosen, Texts(kind="texts")]
    found = expand(declared, whole, name)
    assert found == expand(declared, whole, name)
    assert len({each.model_dump_json(exclude={"trait"}) for each in found}) == len(found) >= ENOUGH


def test_another_seed_and_another_scenario_give_other_inputs() -> None:
    whole = [Texts(kind="texts")]
    first = expand(Inputs(derive=True), whole, "one")
    assert first != expand(Inputs(derive=True, seed=1), whole, "one")
    assert first != expand(Inputs(derive=True), whole, "two")


@pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: str(declared["kind"]))
def test_every_family_gives_inputs(declared: dict[str, object]) -> None:
    alone = expand(Inputs(derive=True), [family(declared), Texts(kind="texts")], "one")
    assert len(alone) > len(expand(Inputs(derive=True), [Texts(kind="texts")], "one")) or declared["kind"] == "texts"


def test_numbers_lie_on_both_sides_of_the_border() -> None:
    found = expand(Inputs(derive=True), [family(DECLARED[2])], "one")
    numbers = {each.text: each.trait for each in found}
    assert numbers["100"] == "at the border"
    assert {"99", "101", "99.5", "100.5"} <= set(numbers)


def test_texts_are_shorter_and_longer_than_the_length() -> None:
    found = expand(Inputs(derive=True), [family(DECLARED[3]), Texts(kind="texts")], "one")
    assert {len(each.text) for each in found if each.trait == "length"} == {6, 11, 12, 13, 24}


def test_matches_come_once_several_times_and_not_at_all() -> None:
    found = expand(Inputs(derive=True), [family(DECLARED[4])], "one")
    by_trait = {trait: [each.text for each in found if each.trait == trait] for trait in (each.trait for each in found)}
    assert all(text.count("urgent") == 1 for text in by_trait["match"])
    assert all(text.count("urgent") > 1 for text in by_trait["several matches"])
    assert all("urgent" not in text for text in (*by_trait["no match"], *by_trait["near miss"]))
    assert "other case" not in by_trait
    exact = expand(Inputs(derive=True), [family({**DECLARED[4], "exact": True})], "one")
    assert {"other case", "inside a word"} <= {each.trait for each in exact}


def test_a_pattern_has_other_matches_than_its_examples() -> None:
    found = expand(Inputs(derive=True), [family(DECLARED[5])], "one")
    matching = [each.text for each in found if each.trait == "match"]
    assert any("AB-1234" not in text for text in matching)


def test_traits_are_left_out() -> None:
    found = expand(Inputs(derive=True, without=("lines", "empty")), [Texts(kind="texts")], "one")
    assert not {"lines", "empty"} & {each.trait for each in found}


def test_too_few_inputs_are_refused_with_the_remedy() -> None:
    with pytest.raises(BadInputs, match="one: its inputs give 2, and at least 8 are needed; declare another family"):
        expand(Inputs(families=(family(DECLARED[1]),)), [family(DECLARED[1])], "one")


BAD: list[tuple[dict[str, object], str]] = [
    ({}, "name families of inputs"),
    ({"families": [{"kind": "number"}]}, "does not match any of the expected tags"),
    ({"families": [{"kind": "matches", "examples": []}]}, "at least 1 item"),
    ({"families": [{"kind": "matches", "examples": ["a"], "pattern": "("}]}, "pattern is not a regular expression"),
    ({"families": [{"kind": "matches", "examples": ["a"], "pattern": "b"}]}, "'a' does not match the pattern"),
    ({"derive": True, "without": ["colours"]}, "Input should be"),
    ({"derive": True, "part": "["}, "part is not a regular expression"),
    ({"derive": True, "free": ["["]}, "free is not a regular expression"),
    ({"derive": True, "free": ["a"], "branches": ["b"]}, "leave out free and part"),
]


@pytest.mark.parametrize(("declared", "fault"), BAD)
def test_a_bad_declaration_is_refused(declared: dict[str, object], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        Inputs.model_validate_json(json.dumps(declared))


def test_fractions_lie_around_the_border() -> None:
    found = {each.text for each in expand(Inputs(derive=True), [family({**DECLARED[2], "border": 50.0})], "one")}
    assert {"50.4", "49.6", "50.1", "49.9", "50.01", "49.99"} <= found
    large = {each.text for each in expand(Inputs(derive=True), [family({**DECLARED[2], "border": 12345.0})], "one")}
    assert {"12345.4", "12344.99"} <= large


@pytest.mark.parametrize(
    ("pattern", "example", "characters"),
    [
        (r"\d", "4", "0123456789"),
        (r"[A-Z]{2}-\d{4}", "AB-1234", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        (r"#\w+", "#orange", "abcdefghijklmnopqrstuvwxyz"),
    ],
)
def test_every_character_that_a_match_may_have_occurs(pattern: str, example: str, characters: str) -> None:
    declared = family({"kind": "matches", "examples": [example], "pattern": pattern})
    found = [each.text for each in expand(Inputs(derive=True), [declared], "one") if each.trait == "every character"]
    assert set(characters) <= set("".join(found))
