"""`wirewright eval import`: external benchmarks become scenarios that can be played from their folder."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Wirewright

DATA = Path(__file__).parent.parent.parent / "evals" / "imports" / "data"
SOURCES = ("--queries", DATA / "query.json", "--checks", DATA / "checks.json")
IMPORT = ("eval", "import", "chat2workflow", *SOURCES)


def test_tasks_are_imported_and_listed_from_their_folder(wirewright: Wirewright, tmp_path: Path) -> None:
    out = tmp_path / "c2w"
    more = ("--resolve", DATA / "endings.json", "--files", DATA / "files")
    done = wirewright(*IMPORT, *more, "--out", out, "--json")
    assert (done.code, done.json["folder"], done.json["left"]) == (0, str(out), ["BirdSong_2: no query has this round"])
    first = done.json["scenarios"][0]
    assert (first["id"], first["turns"], first["probes"], first["criteria"]) == ("recipe-card-1", 1, 3, 2)
    assert first["expected"][0][0] == "LanguageModelComponent"
    listed = wirewright("eval", "--scenarios", out, "list", "--json")
    assert sorted(one["id"] for one in listed.json["scenarios"]) == snapshot(
        [
            "bird-song-1",
            "leftovers-pdf-1",
            "plant-care-1",
            "recipe-card-1",
            "recipe-card-2",
        ]
    )
    assert wirewright("eval", "list", "--tag", "chat2workflow", "--json").code == 2


def test_what_could_not_be_carried_over_is_listed(wirewright: Wirewright, tmp_path: Path) -> None:
    said = wirewright(*IMPORT, "--out", tmp_path / "c2w").out
    assert "changed: node kind tts is any of APIRequest" in said
    assert "left out: BirdSong_2" in said
    assert f"eval --scenarios {tmp_path / 'c2w'} run" in said


@pytest.mark.parametrize(
    ("arguments", "code", "where"),
    [
        (("--files", "/nowhere"), "unreadable", "--files"),
        (("--resolve", DATA / "query.json"), "bad_import", "query.json"),
        (("--checks", DATA / "files" / "scan.pdf"), "bad_import", "scan.pdf"),
    ],
)
def test_what_cannot_be_imported_is_refused_with_its_place(
    arguments: tuple[str | Path, ...], code: str, where: str, wirewright: Wirewright, tmp_path: Path
) -> None:
    refused = wirewright(*IMPORT, *arguments, "--out", tmp_path / "c2w", "--json")
    assert (refused.code, refused.json["error"]["code"], refused.json["error"]["where"]) == (2, code, where)


def test_a_folder_that_is_full_is_left_alone(wirewright: Wirewright, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    refused = wirewright(*IMPORT, "--out", tmp_path, "--json")
    assert (refused.code, refused.json["error"]["message"]) == (2, f"{tmp_path.name}: is not empty.")
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["mine.txt"]


def test_a_folder_of_scenarios_must_be_one(wirewright: Wirewright, tmp_path: Path) -> None:
    refused = wirewright("eval", "--scenarios", tmp_path / "none", "list")
    assert refused.code == 2
    assert "is not a directory" in refused.err
