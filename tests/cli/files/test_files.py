"""`wirewright files`: the user's files from the command line."""

from pathlib import Path

from tests.cli.conftest import Wirewright


def test_files_are_added_listed_given_and_removed(wirewright: Wirewright, tmp_path: Path) -> None:
    source = tmp_path / "handbook.pdf"
    source.write_bytes(b"%PDF\x00\xff")

    added = wirewright("files", "add", source, "--folder", "docs", "--json")
    assert added.json == {"files": [{"path": "docs/handbook.pdf", "size": 6, "new": True}]}
    assert wirewright("files", "list", "--json").json == {"files": [{"path": "docs/handbook.pdf", "size": 6}]}
    assert "docs/handbook.pdf" in wirewright("files", "list").out
    target = tmp_path / "out.pdf"
    assert wirewright("files", "get", "docs/handbook.pdf", "--out", target).code == 0
    assert target.read_bytes() == b"%PDF\x00\xff"
    assert wirewright("files", "remove", "docs/handbook.pdf", "--json").json == {
        "removed": [{"path": "docs/handbook.pdf", "size": 6}]
    }
    assert wirewright("files", "list", "--json").json == {"files": []}


def test_what_cannot_be_added_is_bad_usage(wirewright: Wirewright, tmp_path: Path) -> None:
    missing = wirewright("files", "add", tmp_path / "nope.txt", "--json")
    assert (missing.code, missing.json["error"]["code"]) == (2, "unreadable")
    folder = wirewright("files", "add", tmp_path, "--json")
    assert (folder.code, folder.json["error"]["code"]) == (2, "unreadable")
    (tmp_path / "a.txt").write_text("x")
    outside = wirewright("files", "add", tmp_path / "a.txt", "--folder", "../up", "--json")
    assert (outside.code, outside.json["error"]["code"]) == (2, "file_refused")


def test_a_file_that_is_not_there_fails(wirewright: Wirewright) -> None:
    assert wirewright("files", "get", "nope.txt").code == 1
    gone = wirewright("files", "remove", "nope.txt", "--json")
    assert (gone.code, gone.json["error"]["code"]) == (1, "file_refused")
