"""`wirewright eval pack` and `--pack`: a private half outside the repository that every command can play."""

import shutil
from pathlib import Path

import pytest

from evals.journal import read_journal
from evals.scenarios.loader import FOLDER
from flows.catalogue import Catalogue
from tests.cli.conftest import Wirewright

NAMES = ("echo", "echo-wired", "refuse-weather", "refuse-keys")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, excerpt: Path, catalogue: Catalogue) -> Path:
    """A folder of four scenarios that say no split."""
    monkeypatch.setattr("cli.engine.ready_catalogue", lambda: catalogue)
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in NAMES:
        text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
        (folder / f"{name}.yaml").write_text(text.replace("split: test\n", ""), encoding="utf-8")
    return folder


def test_the_private_half_is_listed_shown_and_recorded_and_the_dev_half_is_a_folder(
    wirewright: Wirewright, source: Path, tmp_path: Path
) -> None:
    pack, dev = tmp_path / "private.zip", tmp_path / "dev"
    made = wirewright(
        "eval", "pack", "create", source, "--name", "mine", "--pack-version", "1", "--out", pack, "--dev", dev, "--json"
    )
    assert (made.code, made.json["name"], made.json["version"]) == (0, "mine", "1")
    listed = wirewright("eval", "list", "--pack", pack, "--json").json["scenarios"]
    assert {one["split"] for one in listed} == {"test"}
    assert len(listed) == made.json["scenarios"]
    assert sorted(path.stem for path in dev.glob("*.yaml")) == sorted(made.json["apart"])
    checked = wirewright("eval", "pack", "check", pack, "--json").json
    assert (checked["digest"], checked["scenarios"]) == (made.json["digest"], len(listed))
    assert wirewright("eval", "show", listed[0]["id"], "--pack", pack).code == 0
    assert wirewright("eval", "show", made.json["apart"][0], "--pack", pack).code == 2


@pytest.mark.engine
def test_a_pack_is_played_and_scored_and_its_name_is_in_the_journal(
    wirewright: Wirewright, source: Path, tmp_path: Path, warm_engine: None
) -> None:
    pack, journal = tmp_path / "pack", tmp_path / "attempts.jsonl"
    wirewright("eval", "pack", "create", source, "--name", "mine", "--pack-version", "1", "--out", pack)
    played = wirewright("eval", "run", "--pack", pack, "--player", "null", "--out", journal, "--json")
    assert (played.code, played.json["harness_errors"]) == (0, 0), played.json
    assert {attempt.origin.pack.split()[0] for attempt in read_journal(journal) if attempt.origin} == {"mine"}
    assert wirewright("eval", "score", journal, "--pack", pack, "--json").json["scored"] == played.json["scored"]


def test_a_pack_that_was_changed_is_refused_with_what_to_do(
    wirewright: Wirewright, source: Path, tmp_path: Path
) -> None:
    pack = tmp_path / "pack"
    wirewright("eval", "pack", "create", source, "--name", "mine", "--pack-version", "1", "--out", pack)
    shutil.rmtree(pack / "scenarios")
    (pack / "scenarios").mkdir()
    for command in (("list", "--pack", pack), ("pack", "check", pack)):
        done = wirewright("eval", *command, "--json")
        assert (done.code, done.json["error"]["code"]) == (2, "bad_pack")
        assert done.json["error"]["fix"]


def test_two_sets_of_scenarios_are_bad_usage(wirewright: Wirewright, source: Path, tmp_path: Path) -> None:
    done = wirewright("eval", "--scenarios", source, "list", "--pack", tmp_path, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "two_sets")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere", "--name", "mine", "--pack-version", "1", "--out", "x"], "no_folder"),
        (["mine", "--name", "mine", "--pack-version", "1", "--out", "mine"], "bad_pack"),
        (["mine", "--name", "mine", "--pack-version", "1", "--out", "x", "--dev", "d", "--share", "0"], "bad_pack"),
    ],
)
def test_what_cannot_be_made_is_bad_usage(
    arguments: list[str], code: str, wirewright: Wirewright, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(source.parent)
    done = wirewright("eval", "pack", "create", *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, code)


@pytest.mark.parametrize(("name", "version"), [("my pack", "1"), ("../mine", "1"), ("", "1"), ("mine", "")])
def test_a_name_or_a_version_that_a_pack_cannot_have_is_refused_before_anything_is_written(
    name: str, version: str, wirewright: Wirewright, source: Path, tmp_path: Path
) -> None:
    wanted = ("--name", name, "--pack-version", version, "--out", tmp_path / "pack", "--dev", tmp_path / "dev")
    done = wirewright("eval", "pack", "create", source, *wanted, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "bad_pack")
    wrong = f"{version!r} as its version" if name == "mine" else f"{name!r} as its name"
    assert done.json["error"]["message"] == f"A pack cannot have {wrong}."
    assert not (tmp_path / "pack").exists()
    assert not (tmp_path / "dev").exists()


@pytest.mark.engine
def test_a_journal_of_a_pack_says_which_pack_must_be_named(
    wirewright: Wirewright, source: Path, tmp_path: Path, warm_engine: None
) -> None:
    pack, journal = tmp_path / "pack", tmp_path / "attempts.jsonl"
    (source / "echo.yaml").rename(source / "own-echo.yaml")
    text = (source / "own-echo.yaml").read_text(encoding="utf-8")
    (source / "own-echo.yaml").write_text(text.replace("id: echo", "id: own-echo"), encoding="utf-8")
    wirewright("eval", "pack", "create", source, "--name", "mine", "--pack-version", "1", "--out", pack)
    wirewright("eval", "run", "--pack", pack, "--player", "null", "--scenario", "own-echo", "--out", journal)
    error = wirewright("eval", "score", journal, "--json").json["error"]
    assert error["message"].startswith("own-echo is not among the scenarios, and it was played with the pack mine 1 ")
    assert error["fix"] == "Name the pack with --pack, or play again."
