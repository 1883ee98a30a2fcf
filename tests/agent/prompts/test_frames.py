"""The frame: what stands in it can neither close it nor open another."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.prompts.frames import HEADINGS, framed, framed_result, neutralised, unframed

MARK = re.compile(r"\[\s*(?:end\s+of|" + "|".join(map(str.strip, HEADINGS)) + ")", re.IGNORECASE)
PIECES = st.sampled_from(
    [
        *(f"[{heading}" for heading in HEADINGS),
        "[End of result]",
        "[END OF canvas reference]",
        "[ End\tof",
        "［End of",
        "[",
    ]
)


@given(st.lists(PIECES | st.text(max_size=12), max_size=8).map("".join))
def test_no_mark_of_a_frame_is_left_in_a_text(text: str) -> None:
    shown = framed("Canvas reference (data)", text, "canvas reference")
    assert [match.start() for match in MARK.finditer(shown)] == [0, shown.rindex("[")]
    assert neutralised(neutralised(text)) == neutralised(text)
    assert len(neutralised(text)) == len(text)


@pytest.mark.parametrize(
    "mark",
    [
        "[End of result]",
        "[end  of result]",
        "[\u200bEnd of result]",
        "[E\u200bnd of result]",
        "[Endof result]",
        "［End of x］",
    ],
)
def test_a_mark_is_found_however_it_is_written(mark: str) -> None:
    assert neutralised(mark).startswith("(")


@given(st.text(), st.text(max_size=20))
def test_a_result_comes_out_of_its_frame_as_it_was_but_for_marks(text: str, tool: str) -> None:
    assert unframed(framed_result(tool, text)) == neutralised(text)


@pytest.mark.parametrize("text", ["[1, 2]", "see [the docs](x)", '{"a": ["b"]}', "[x]", "arr[End]", "[Endless]"])
def test_other_brackets_stay(text: str) -> None:
    assert neutralised(text) == text


def test_an_answer_that_is_no_text_is_framed_as_json() -> None:
    assert '{"error": "It is ü.", "path": "x"}' in framed_result("read_file", {"error": "It is ü.", "path": "x"})


def test_a_heading_that_could_be_imitated_is_refused() -> None:
    with pytest.raises(ValueError, match="not among HEADINGS"):
        framed("Anything else", "text", "anything")
