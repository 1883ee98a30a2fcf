"""Packs: made, read back, refused when their content differs, and found in packages."""

import shutil
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from evals.packs.installed import GROUP, find_pack
from evals.packs.pack import PackError, open_pack
from evals.packs.writer import make_pack
from evals.scenarios.loader import FOLDER, load_scenarios

SOME = ("echo", "echo-wired", "edit-template", "question-count", "refuse-weather", "own-insert")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of scenarios that say no split, one of which reads a file."""
    folder = tmp_path / "source"
    folder.mkdir()
    shutil.copytree(FOLDER / "files", folder / "files")
    for name in SOME:
        text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
        lines = [line for line in text.splitlines(keepends=True) if not line.startswith("split:")]
        (folder / f"{name}.yaml").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize("target", ["pack", "pack.zip"])
def test_a_pack_holds_the_scenarios_with_their_splits(target: str, source: Path, tmp_path: Path) -> None:
    made = make_pack(source, tmp_path / target, name="mine", version="1.2", about="Some.")
    pack = open_pack(tmp_path / target)
    assert (pack.manifest, pack.label) == (made.pack.manifest, f"mine 1.2 {pack.manifest.digest[:12]}")
    found = load_scenarios(pack.folder)
    assert {one.id: one.split for one in found} == made.splits
    assert set(made.splits.values()) == {"dev", "test"}
    before = {one.id: one for one in load_scenarios(source)}
    assert [one.model_copy(update={"split": "dev"}) for one in found] == [
        before[one.id].model_copy(update={"split": "dev"}) for one in found
    ]


def test_the_same_scenarios_give_the_same_bytes(source: Path, tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        make_pack(source, tmp_path / name, name="mine", version="1")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_the_dev_half_is_kept_apart_with_its_own_files_only(source: Path, tmp_path: Path) -> None:
    made = make_pack(source, tmp_path / "private.zip", name="mine", version="1", dev=tmp_path / "dev")
    private = {one.id for one in load_scenarios(open_pack(tmp_path / "private.zip").folder)}
    public = {one.id for one in load_scenarios(tmp_path / "dev")}
    assert (private | public, private & public) == (set(SOME), set())
    assert public == set(made.apart)
    there = {path.name for path in (tmp_path / "dev").rglob("*") if path.is_file()}
    assert len(there) < len(list((source / "files").iterdir())), "files of other scenarios stay away"


def test_a_pack_whose_scenarios_changed_is_refused(source: Path, tmp_path: Path) -> None:
    make_pack(source, tmp_path / "pack", name="mine", version="1")
    (tmp_path / "pack" / "scenarios" / "more.yaml").write_text("id: more\n", encoding="utf-8")
    with pytest.raises(PackError, match="their digest differs") as caught:
        open_pack(tmp_path / "pack")
    assert caught.value.fix


@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "a/../../out.txt", "C:/out.txt", "a\\..\\out.txt"])
def test_a_zip_file_that_leads_out_of_itself_is_refused(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(PackError, match="leads out of it"):
        open_pack(tmp_path / "bad.zip")


def test_a_zip_file_of_a_folder_is_a_pack_too(source: Path, tmp_path: Path) -> None:
    make_pack(source, tmp_path / "outer" / "pack", name="mine", version="1")
    shutil.make_archive(str(tmp_path / "by-hand"), "zip", tmp_path / "outer")
    assert open_pack(tmp_path / "by-hand.zip").manifest.name == "mine"


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (None, "has no pack.yaml"),
        ("- a", "cannot be read"),
        ("a: [", "is not YAML"),
        ("{format: 2, name: a, version: '1', digest: ''}", "format"),
        ("{format: 1, name: a/b, version: '1', digest: ''}", "name"),
    ],
)
def test_a_folder_that_is_no_pack_says_why(manifest: str | None, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if manifest is not None:
        (folder / "pack.yaml").write_text(manifest, encoding="utf-8")
    with pytest.raises(PackError, match=said) as caught:
        open_pack(folder)
    assert "eval --scenarios DIR" in caught.value.fix


def test_a_pack_is_not_written_over(source: Path, tmp_path: Path) -> None:
    (tmp_path / "there.zip").write_text("mine", encoding="utf-8")
    with pytest.raises(PackError, match="exists already"):
        make_pack(source, tmp_path / "there.zip", name="mine", version="1")
    assert (tmp_path / "there.zip").read_text(encoding="utf-8") == "mine"


def test_a_pack_is_found_by_the_entry_point_of_a_package(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "somebodys_scenarios"
    make_pack(source, package, name="theirs", version="3")
    (package / "__init__.py").write_text(
        "from pathlib import Path\nPACK = Path(__file__).parent\ndef pack(): return str(PACK)\nwrong = 3\n", "utf-8"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    named = {"module": "", "path": ":PACK", "function": ":pack", "number": ":wrong", "broken": ":nothing"}
    installation = tmp_path / "somebodys_scenarios-3.dist-info"
    installation.mkdir()
    (installation / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-scenarios\nVersion: 3\n", "utf-8")
    points = [f"{name} = somebodys_scenarios{attribute}" for name, attribute in named.items()]
    (installation / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *points]), "utf-8")
    for name in ("module", "path", "function"):
        assert find_pack(name).manifest.name == "theirs"
    for name, said in {"number": "is int", "broken": "cannot be imported", "modul": "There is no pack"}.items():
        with pytest.raises(PackError, match=said) as caught:
            find_pack(name)
        assert caught.value.fix


def test_the_manifest_is_plain_yaml(source: Path, tmp_path: Path) -> None:
    make_pack(source, tmp_path / "pack", name="mine", version="2026-11")
    assert list(yaml.safe_load((tmp_path / "pack" / "pack.yaml").read_text(encoding="utf-8"))) == [
        "format",
        "name",
        "version",
        "about",
        "digest",
    ]
