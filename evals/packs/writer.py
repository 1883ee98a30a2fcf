"""Making a pack of a folder of scenarios, and keeping its dev half apart."""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from evals.packs.pack import MANIFEST, SCENARIOS, Manifest, Pack, PackError, digest_of, open_pack
from evals.packs.split import SHARE, SplitError, divide
from evals.scenario import Scenario, Split
from evals.scenarios.coverage import kind_of
from evals.scenarios.loader import FILES, ScenarioError, load_scenario, load_scenarios, named_files
from runtime.files.texts import write_file

ZIP: Final = ".zip"

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of every file in a zip file, so that the same scenarios give the same bytes."""

_ID = re.compile(r"^id:.*\n", re.MULTILINE)
_SPLIT = re.compile(r"^split:.*\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Made:
    """What was made.

    Attributes:
        pack: with the scenarios that are kept.
        splits: the split of every scenario, by id.
        kinds: how many scenarios each kind has, in dev and in test.
        apart: the ids that were written to the folder of the dev half.
    """

    pack: Pack
    splits: Mapping[str, Split]
    kinds: Mapping[str, tuple[int, int]]
    apart: tuple[str, ...]


def make_pack(
    scenarios: Path,
    target: Path,
    *,
    name: str,
    version: str,
    about: str = "",
    share: float = SHARE,
    seed: str = "",
    dev: Path | None = None,
) -> Made:
    """Divide the scenarios of a folder, and write them as a pack.

    Args:
        scenarios: the folder.
        target: a new folder, or a file that ends with .zip.
        share: of the scenarios that are kept for test.
        seed: another text gives another split.
        dev: a new or empty folder for the dev half, such as one in the repository; the pack then has the test half.

    Raises:
        PackError: something cannot be used or written.
        ScenarioError: a scenario cannot be used.
    """
    for place in (target, dev):
        if place is not None and place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise PackError(f"{place} exists already.", "Name another place, or remove it first.")
    found = load_scenarios(scenarios)
    try:
        splits = divide(found, share, seed)
    except SplitError as error:
        raise PackError(f"{error}.", "Write the same split into their files, or none.") from None
    apart = tuple(one.id for one in found if dev is not None and splits[one.id] == "dev")
    kept = [one for one in found if one.id not in apart]
    if not kept:
        raise PackError("No scenario is left for the pack.", "Give a larger --share.")
    with tempfile.TemporaryDirectory(prefix="wirewright-pack-") as temporary:
        folder = Path(temporary) / "pack"
        _write_scenarios(scenarios, kept, splits, folder / SCENARIOS)
        digest = digest_of(folder / SCENARIOS)
        manifest = Manifest(name=name, version=version, about=about, digest=digest)
        text = yaml.safe_dump(manifest.model_dump(), sort_keys=False, allow_unicode=True)
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        try:
            if dev is not None:
                _write_scenarios(scenarios, [one for one in found if one.id in apart], splits, dev)
            _place(folder, target)
        except OSError as failure:
            reason = failure.strerror or type(failure).__name__
            raise PackError(f"The pack cannot be written: {reason}.", "Name another place.") from None
    return Made(pack=open_pack(target), splits=splits, kinds=kinds_of(found, splits), apart=apart)


def _place(folder: Path, target: Path) -> None:
    """Put a whole pack where it belongs, or nothing."""
    if target.suffix.lower() != ZIP:
        if target.exists():
            target.rmdir()
        shutil.copytree(folder, target)
        return
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    write_file(target, content.getvalue())


def _write_scenarios(source: Path, chosen: Sequence[Scenario], splits: Mapping[str, Split], folder: Path) -> None:
    """Copy scenarios with the files that they name, and no others; each says its split."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in chosen:
        path = source / f"{one.id}.yaml"
        copy = folder / path.name
        for name in named_files(path):
            there = folder / FILES / name
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / FILES / name, there)
        copy.write_text(_with_split(path.read_text(encoding="utf-8"), splits[one.id]), encoding="utf-8", newline="\n")
        if load_scenario(copy) != one.model_copy(update={"split": splits[one.id]}):
            raise ScenarioError(path.name, "its split cannot be written; write `split: dev` or `split: test` into it")


def _with_split(text: str, split: Split) -> str:
    """The text of a scenario with its split; comments and layout stay."""
    line = f"split: {split}\n"
    if _SPLIT.search(text):
        return _SPLIT.sub(line, text, count=1)
    return _ID.sub(lambda found: found.group() + line, text, count=1)


def kinds_of(scenarios: Sequence[Scenario], splits: Mapping[str, Split]) -> dict[str, tuple[int, int]]:
    """How many scenarios each kind has, in dev and in test."""
    found: dict[str, tuple[int, int]] = {}
    for one in scenarios:
        dev, test = found.get(kind_of(one), (0, 0))
        is_test = splits[one.id] == "test"
        found[kind_of(one)] = (dev + (not is_test), test + is_test)
    return dict(sorted(found.items()))
