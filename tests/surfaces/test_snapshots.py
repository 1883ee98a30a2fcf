"""The comparison itself: what repeats is equal, and every change of a surface is seen."""

import json
from pathlib import Path

from tests.surfaces.normalisation import plain, pretty
from tests.surfaces.snapshots import differences, stored, write

NODE = {"display_name": "Chat", "base_classes": [], "outputs": [], "template": {"text": {"value": "a", "show": True}}}


def test_a_changed_missing_or_new_text_is_reported(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "one\ntwo\n", "b.txt": "x\n"})
    assert differences(tmp_path, {"a.txt": "one\ntwo\n", "b.txt": "x\n"}) == ""
    assert "-two\n+three" in differences(tmp_path, {"a.txt": "one\nthree\n", "b.txt": "x\n"})
    assert "b.txt is not captured" in differences(tmp_path, {"a.txt": "one\ntwo\n"})
    assert "c.txt has no snapshot" in differences(tmp_path, {**stored(tmp_path), "c.txt": ""})
    assert "differs in its line ends" in differences(tmp_path, {"a.txt": "one\ntwo", "b.txt": "x\n"})


def test_a_refresh_leaves_exactly_what_was_captured(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "one\n", "b.txt": "x\n"})
    write(tmp_path, {"a.txt": "two\n"})
    assert stored(tmp_path) == {"a.txt": "two\n"}


def test_only_what_varies_is_taken_out_of_a_text() -> None:
    first, second = "0a" * 16, "5c1e7a30-0000-4000-8000-0123456789ab"
    text = f"/x/y/data at http://127.0.0.1:7001, 2026-11-23T10:39:52.976+00:00: cli-{first}, {second}, {first}, 0.50"
    assert plain(text, {"/x/y": "<folder>"}) == (
        "<folder>/data at http://127.0.0.1:<port>, <time>: cli-<id 1>, <id 2>, <id 1>, 0.50"
    )


def test_measurements_are_replaced_and_their_kind_is_kept() -> None:
    document = json.loads(pretty({"seconds": 0.3, "duration_seconds": None, "total": 3}, {}))
    assert document == {"seconds": "<seconds>", "duration_seconds": None, "total": 3}


def test_what_a_shortened_node_leaves_out_still_changes_its_digest() -> None:
    hidden = {**NODE, "template": {"text": {"value": "a", "show": False}}}
    assert pretty(NODE, {}) != pretty(hidden, {})
    assert json.loads(pretty(NODE, {}))["values"] == {"text": "a"}
    assert json.loads(pretty(NODE, {}, whole=True)) == NODE


def test_long_strings_differ_beyond_where_they_are_cut() -> None:
    assert pretty(["x" * 1000 + "a"], {}) != pretty(["x" * 1000 + "b"], {})
