"""What the snapshots of surfaces share: the installation under test, a place for it, and the comparison."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.surfaces import snapshots
from tests.surfaces.subject import Subject, Workplace


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Subject:
    """The installation under test: the running one, or that of `--subject-python`."""
    python: str | None = request.config.getoption("subject_python")
    return Subject.current() if python is None else Subject.at(python)


@pytest.fixture
def place(subject: Subject, tmp_path: Path) -> Workplace:
    """Fresh folders for the subject."""
    return Workplace(subject, tmp_path / "place", Path(os.environ["WIREWRIGHT_CACHE"]))


@pytest.fixture
def matches(request: pytest.FixtureRequest) -> Callable[[str, Mapping[str, str]], None]:
    """Compares what was captured with the snapshots of a folder, or refreshes them with `--update-surfaces`."""

    def compare(folder: str, captured: Mapping[str, str]) -> None:
        if request.config.getoption("update_surfaces"):
            snapshots.write(snapshots.FOLDER / folder, captured)
        found = snapshots.differences(snapshots.FOLDER / folder, captured)
        assert not found, found

    return compare
