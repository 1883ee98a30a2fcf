"""The catalogue that ships with the package is what the locked engine exports, and only used with that lock."""

import gzip
import json
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from runtime.install import shipped
from runtime.install.bundles import choose_bundles
from runtime.install.environment import RunnerEnvironment
from runtime.install.shipped import FILE, lock_digest, shipped_catalogue, write_shipped


@pytest.mark.engine
def test_it_is_what_the_engine_exports(runner_environment: RunnerEnvironment, tmp_path: Path) -> None:
    write_shipped(runner_environment.catalogue, tmp_path / "fresh.gz", lock_digest(runner_environment.source))
    fresh, kept = (json.loads(gzip.decompress(path.read_bytes())) for path in (tmp_path / "fresh.gz", FILE))
    assert fresh["components"].keys() == kept["components"].keys()
    assert fresh == kept, "Export it again: python -m scripts.shipped_catalogue"


def test_it_is_read_without_an_engine(tmp_path: Path) -> None:
    found = shipped_catalogue(tmp_path)
    assert found is not None
    assert len(found) > 100
    assert "ChatInput" in found
    assert shipped_catalogue(tmp_path) is found


def test_another_lock_file_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue) -> None:
    (tmp_path / "uv.lock").write_text("another")
    (tmp_path / "main.py").touch()
    monkeypatch.setattr(shipped, "runner_source", lambda: tmp_path)
    shipped._shipped.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        assert shipped_catalogue(tmp_path) is None
    finally:
        shipped._shipped.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_with_bundles_the_engine_has_other_types(tmp_path: Path) -> None:
    choose_bundles(tmp_path, ("lfx-duckduckgo==0.1",))
    assert shipped_catalogue(tmp_path) is None
