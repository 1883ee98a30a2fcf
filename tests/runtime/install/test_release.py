"""The id of a release: the version, with the commit when the build noted one."""

from importlib import metadata
from pathlib import Path

import pytest

from runtime.install import release as module
from runtime.install.release import COMMIT_FILE, release

VERSION = metadata.version("wirewright")


@pytest.mark.parametrize(
    ("noted", "shown"), [(None, VERSION), ("4deb441b0c2d\n", f"{VERSION}+4deb441b0c2d"), ("", VERSION)]
)
def test_a_release_is_named_by_version_and_commit(
    noted: str | None, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "__file__", str(tmp_path / "release.py"))
    if noted is not None:
        (tmp_path / COMMIT_FILE).write_text(noted)
    release.cache_clear()
    try:
        assert release() == shown
    finally:
        release.cache_clear()
