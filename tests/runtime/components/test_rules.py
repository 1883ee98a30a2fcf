"""What a source must be before it is made: read, never run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.components.rules import MAX_CLASS_NAME, MAX_SOURCE, ClassNameError, check_class_name, read_outline

GOOD = """from lfx.custom import Component
from lfx.io import Output
from lfx.schema.message import Message


class Greeter(Component):
    display_name = "Greeter"
    outputs = [Output(name="greeting", display_name="Greeting", method="greet")]

    def greet(self) -> Message:
        return Message(text="hi")
"""


def codes(source: str) -> list[tuple[int | None, str]]:
    return [(fault.line, fault.code) for fault in read_outline(source)[1]]


def test_the_component_class_is_found_with_its_line() -> None:
    outline, faults = read_outline(GOOD)
    assert faults == []
    assert outline is not None
    assert (outline.name, outline.line) == ("Greeter", 6)
    assert outline.line_of("Output", name="greeting") == 8
    assert outline.line_of_method("greet") == 10
    assert outline.line_of_import("No module named 'lfx'") == 1


def test_the_class_that_inherits_from_others_of_the_source_is_the_component() -> None:
    outline, faults = read_outline(GOOD + "\n\nclass Louder(Greeter):\n    pass\n")
    assert faults == []
    assert outline is not None
    assert outline.name == "Louder"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\n", (1, "no_component")),
        ("class Plain:\n    pass\n", (1, "no_component")),
        ("import lfx.custom\nclass Dotted(lfx.custom.Component):\n    pass\n", (2, "no_component")),
        (GOOD + "\n\nclass Other(Component):\n    pass\n", (14, "several_components")),
        ("from lfx.custom import Component\nclass lower(Component):\n    pass\n", (2, "class_name")),
        (f"from lfx.custom import Component\nclass {'A' * 65}(Component):\n    pass\n", (2, "class_name")),
        ("from lfx.custom import Component\nclass Con(Component):\n    pass\n", (2, "class_name")),
        ("class Broken(Component:\n", (1, "syntax")),
        ("x" * (MAX_SOURCE + 1), (1, "too_large")),
        (GOOD.replace('name="greeting"', 'name="component_as_tool"'), (8, "reserved")),
        (GOOD.replace('method="greet"', 'method="to_toolkit"'), (8, "reserved")),
        (GOOD.replace("    display_name", "    import os\n    os.remove('x')\n    display_name"), (8, "files")),
    ],
)
def test_each_rule_is_reported_with_its_line_and_a_remedy(source: str, expected: tuple[int, str]) -> None:
    _, faults = read_outline(source)
    assert expected in [(fault.line, fault.code) for fault in faults]
    assert all(fault.fix for fault in faults)


def test_everything_that_is_wrong_is_reported_at_once() -> None:
    source = "import os\nfrom lfx.custom import Component\nclass aux(Component):\n    x = os.environ\n"
    assert codes(source) == [(4, "secrets"), (3, "class_name")]


@pytest.mark.parametrize("name", ["A", "SumComponent", "A" * MAX_CLASS_NAME, "S3Bucket", "Com10", "My_Part"])
def test_a_class_name_in_camel_case_of_at_most_64_characters_is_kept(name: str) -> None:
    assert check_class_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("", "../escape", "subdir/Nested", "Sum/Component", "Sum\\Component", "\x00null", "Sum:Colon", "sum", "_Sum"),
        *("1A", "CON", "Nul", "COM1", "lpt9", "Aux", "PRN", "Großer", "A\n", "A.py", " A"),
    ],
)
def test_a_class_name_that_no_file_should_have_is_refused(name: str) -> None:
    with pytest.raises(ClassNameError) as refusal:
        check_class_name(name)
    assert refusal.value.fix


def test_a_class_name_that_is_too_long_is_reported_with_both_lengths() -> None:
    with pytest.raises(ClassNameError, match="length 65 exceeds max 64"):
        check_class_name("A" + "a" * 64)


@given(st.text(max_size=300))
def test_any_text_is_answered(source: str) -> None:
    outline, faults = read_outline(source)
    assert outline is not None or faults


@given(st.text(max_size=80))
def test_a_name_that_is_kept_is_one_plain_part_of_a_path(name: str) -> None:
    try:
        check_class_name(name)
    except ClassNameError:
        return
    assert name.isidentifier()
    assert name.isascii()
    assert len(name) <= MAX_CLASS_NAME
