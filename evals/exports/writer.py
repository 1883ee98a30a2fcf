"""The files of an export, by its form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from evals.exports.huggingface import dataset
from evals.exports.inspect_log import inspect_log
from evals.exports.recorded import Recorded

FolderForm = Literal["inspect", "huggingface"]

FOLDER_FORMS: Final[tuple[FolderForm, ...]] = ("inspect", "huggingface")
"""The forms that are folders of files."""


def exported_files(
    form: FolderForm, players: Mapping[str, Sequence[Recorded]], *, title: str, written: datetime
) -> dict[str, str]:
    """The files of an export, by their paths in its folder; the same journal gives the same files.

    Args:
        form: which export.
        players: the attempts of each player.
        title: what a dataset is called.
        written: when the journal was written, for attempts that do not say when they ended.
    """
    if form == "huggingface":
        return dataset(players, title)
    files: dict[str, str] = {}
    for number, (player, found) in enumerate(players.items()):
        began = min((one.began for one in found if one.began is not None), default=written).astimezone(UTC)
        stamp = began.strftime("%Y-%m-%dT%H-%M-%S+00-00")
        slug = re.sub(r"[^A-Za-z0-9]+", "-", player).strip("-")[:60] or "player"
        files[f"{stamp}_wirewright_{number + 1}-{slug}.json"] = (
            json.dumps(inspect_log(player, found, written), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        )
    return files
