"""The model of claims belongs to the sentences in the repository."""

import gzip
import shutil
from pathlib import Path

import pytest

from agent.honesty.acts import DIGEST
from scripts.train_spoken_acts import FOLDER, MODEL, digest


def test_the_model_was_learned_from_the_sentences_that_stand_there() -> None:
    assert gzip.decompress(MODEL.read_bytes())[:DIGEST] == digest(), "run: python scripts/train_spoken_acts.py"


def test_another_sentence_gives_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    shutil.copytree(FOLDER, tmp_path / "acts")
    monkeypatch.setattr("scripts.train_spoken_acts.FOLDER", tmp_path / "acts")
    assert digest() == before
    with (tmp_path / "acts" / "sentences" / "en.yaml").open("a") as file:
        file.write("- {text: The flow was built., claims: [built]}\n")
    assert digest() != before
