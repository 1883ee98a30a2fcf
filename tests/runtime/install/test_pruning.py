"""Environments that nobody needs are deleted after an installation; the ones that somebody needs are not."""

import json
import os
from pathlib import Path

import pytest

from flows.document import JsonObject
from runtime.files.lock import FileLock
from runtime.install.pruning import mark_in_use, prune

A, B, C, D = ("a" * 16, "b" * 16, "c" * 16, "d" * 16)


def environment(folder: Path, digest: str, age: float, source: str = "") -> Path:
    made = folder / digest
    (made / "env").mkdir(parents=True)
    stamp = made / "installed.json"
    stamp.write_text(json.dumps({"digest": digest, "source": source}))
    os.utime(stamp, (1e9 - age, 1e9 - age))
    return made


def nobody(_: JsonObject) -> bool:
    return False


def left(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir() if each.is_dir()}


def test_all_but_the_current_and_the_previous_environment_are_deleted(tmp_path: Path) -> None:
    for digest, age in ((A, 0), (B, 10), (C, 20), (D, 5)):
        environment(tmp_path, digest, age)
    assert sorted(prune(tmp_path, A, nobody)) == [B, C]
    assert left(tmp_path) == {A, D}


def test_the_previous_one_is_kept_when_it_is_known_however_old_it_is(tmp_path: Path) -> None:
    for digest, age in ((A, 0), (B, 10), (C, 20)):
        environment(tmp_path, digest, age)
    assert prune(tmp_path, A, nobody, previous=C) == [B]


def test_an_environment_that_an_installation_chose_stays(tmp_path: Path) -> None:
    for digest, age, source in ((A, 0, "here"), (B, 1, ""), (C, 2, "elsewhere"), (D, 3, "")):
        environment(tmp_path, digest, age, source)
    assert prune(tmp_path, A, lambda stamp: stamp.get("source") == "elsewhere") == [D]


@pytest.mark.skipif(os.name == "nt", reason="engines do not run without fork")
def test_an_environment_that_an_engine_runs_from_stays_until_it_ends(tmp_path: Path) -> None:
    environment(tmp_path, A, 0)
    environment(tmp_path, B, 1)
    old = environment(tmp_path, C, 2)
    first, second = mark_in_use(old), mark_in_use(old)
    assert first is not None
    assert second is not None
    environment(tmp_path, D, -1e9 * 3)  # used after it, so that it is not the last one that was used
    for mark in (first, second):
        assert C not in prune(tmp_path, A, nobody, previous=D)
        mark.release()
    assert prune(tmp_path, A, nobody, previous=D) == [C]


def test_an_environment_that_is_being_made_stays(tmp_path: Path) -> None:
    for digest in (A, B, C):
        environment(tmp_path, digest, 0)
    making = FileLock(tmp_path / f"{C}.lock")
    assert making.try_acquire()
    assert prune(tmp_path, A, nobody, previous=B) == []
    making.release()
    assert prune(tmp_path, A, nobody, previous=B) == [C]


def test_what_is_not_an_environment_is_left_alone(tmp_path: Path) -> None:
    for name in (A, B, "notes", "A" * 16, "with-bundles"):
        (tmp_path / name).mkdir()
    (tmp_path / "bundles.json").write_text("{}")
    assert prune(tmp_path, A, nobody) == []
    assert left(tmp_path) == {A, B, "notes", "A" * 16, "with-bundles"}


def test_nothing_is_marked_where_there_is_no_environment(tmp_path: Path) -> None:
    assert mark_in_use(tmp_path / "none") is None
