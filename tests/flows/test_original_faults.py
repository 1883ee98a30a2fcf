"""Every fault that is known of the original's builder has a test by which it is gone; this table says which."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
GONE = {
    "prompt variables cannot be wired from a spec": (
        "flows/fields/test_prompts.py::test_variables_can_be_wired_and_set_when_a_spec_brings_them"
    ),
    "a `nodes:` line inside a block breaks the parser": (
        "flows/spec/test_build.py::test_blocks_hold_any_line_of_a_spec"
    ),
    "007 becomes 7, 1_000 becomes 1000, nan becomes NaN": (
        "flows/spec/test_build.py::test_value_is_read_as_it_was_written"
    ),
    "comments are rejected": "flows/spec/test_build.py::test_same_flow_is_built_when_only_the_writing_differs",
    "A.x->B.y is rejected": "flows/spec/test_build.py::test_same_flow_is_built_when_only_the_writing_differs",
    "a duplicate id leaves an orphan": (
        "flows/spec/test_faults.py::test_all_faults_are_reported_in_one_go_with_lines_and_the_specs_ids"
    ),
    "cycles are accepted": "flows/spec/test_faults.py::test_spec_is_refused_when_its_wiring_cannot_run",
    "self edges are accepted": "flows/spec/test_faults.py::test_spec_is_refused_when_its_wiring_cannot_run",
    "two chat inputs are accepted in silence": (
        "flows/spec/test_faults.py::test_two_chat_inputs_are_reported_when_a_spec_has_them"
    ),
    "it stops at the first fault": (
        "flows/spec/test_faults.py::test_all_faults_are_reported_in_one_go_with_lines_and_the_specs_ids"
    ),
    "search is one whole-query substring": (
        "flows/search/test_ranking.py::test_component_is_found_by_another_word_for_it"
    ),
    "the canvas summary hides loop ports": "flows/describe/test_summary.py::test_summary_shows_loop_ports",
    "a number in a text field falls back to the default": (
        "flows/spec/test_build.py::test_value_is_read_as_it_was_written"
    ),
    "`match_text: 100` crashes If-Else": "lfx_runner/test_effects.py::test_choices_take_effect_when_the_flows_run",
    "`case_type: uppercase` passes text through unchanged": (
        "lfx_runner/test_effects.py::test_choices_take_effect_when_the_flows_run"
    ),
    "fields of the chosen operation stay hidden": (
        "flows/fields/dynamic/test_refresh.py::test_fields_of_the_chosen_operation_are_shown_and_those_of_the_old_one_hidden"
    ),
    "outputs of the chosen operation are not refreshed": (
        "lfx_runner/introspect/test_choices.py::test_every_choice_gives_the_fields_and_outputs_of_the_engines_refresh"
    ),
    "a JSON list in a list field is read character by character": (
        "flows/spec/test_build.py::test_list_is_read_in_every_form"
    ),
    "an edge into a dropdown is accepted": "flows/test_ports.py::test_edge_into_a_setting_is_refused",
    "two edges into a single input are accepted": (
        "flows/spec/test_faults.py::test_spec_is_refused_when_its_wiring_cannot_run"
    ),
    "the chat output doubles newlines": "lfx_runner/test_inside.py::test_the_runners_result_is_what_lfx_gives",
}


@pytest.mark.parametrize("test", sorted(set(GONE.values())))
def test_each_fault_of_the_original_has_its_test(test: str):
    file, _, name = test.partition("::")
    assert re.search(rf"^def {name}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE)
