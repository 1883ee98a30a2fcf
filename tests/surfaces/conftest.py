"""What the snapshots of surfaces share: the installation under test, a place for it, and the comparison."""

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.processes.forked import ForkParent, MakeForkParent
from tests.surfaces import snapshots
from tests.surfaces.subject import Subject, Workplace

INSTALLATIONS = ("checkout", "wheel")


@pytest.fixture(params=INSTALLATIONS)
def subject(request: pytest.FixtureRequest) -> Subject:
    """The installation under test: the running one, then the wheel; or only that of `--subject-python`."""
    python: str | None = request.config.getoption("subject_python")
    wanted: str = request.param
    if python is not None:
        if wanted != INSTALLATIONS[-1]:
            pytest.skip("another installation is under test: --subject-python")
        return Subject.at(python)
    return Subject.current() if wanted == "checkout" else Subject.at(request.getfixturevalue("installed"))


Forks = Callable[[Subject], ForkParent]


@pytest.fixture(scope="session")
def forks(fork_parent: MakeForkParent) -> Forks:
    """Gives the process that forks the commands of an installation."""

    def of(subject: Subject) -> ForkParent:
        child = Path(__file__).parent / "captures" / "command_child.py"
        kind = f"surfaces-{hashlib.sha256(str(subject.python).encode()).hexdigest()[:8]}"

        def variables(folder: Path) -> Mapping[str, str]:
            return Workplace(subject, folder, folder).environment()

        return fork_parent(kind, subject.python, child, variables=variables, warnings=True)

    return of


@pytest.fixture
def place(subject: Subject, forks: Forks, tmp_path: Path) -> Workplace:
    """Fresh folders for the subject; of the shared cache it has the engine, and a catalogue file of its own.

    Two versions of Wirewright that share a cache take turns in exporting the catalogue, which would be seen.
    """
    shared, own = Path(os.environ["WIREWRIGHT_CACHE"]), tmp_path / "place" / "cache"
    own.mkdir(parents=True)
    for path in shared.iterdir() if shared.is_dir() else ():
        if path.is_dir():
            (own / path.name).symlink_to(path)
        else:
            shutil.copyfile(path, own / path.name)
    return Workplace(subject, tmp_path / "place", own, forks(subject))


@pytest.fixture
def matches(request: pytest.FixtureRequest) -> Callable[[str, Mapping[str, str]], None]:
    """Compares what was captured with the snapshots of a folder, or refreshes them with `--update-surfaces`."""

    def compare(folder: str, captured: Mapping[str, str]) -> None:
        if request.config.getoption("update_surfaces"):
            snapshots.write(snapshots.FOLDER / folder, captured)
        found = snapshots.differences(snapshots.FOLDER / folder, captured)
        assert not found, found

    return compare
