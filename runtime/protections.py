"""What keeps a run apart from everything else on this machine, said as it is."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Protection:
    """One thing that a run is kept from; `note` says how, or why not."""

    name: str
    active: bool
    note: str


def protections() -> tuple[Protection, ...]:
    """The protections of a run on this system."""
    fork = sys.platform != "win32"
    linux = sys.platform == "linux"
    unavailable = "this system cannot fork, so flows are not run here"
    return (
        Protection(name="own process", active=fork, note="every run is a process of its own" if fork else unavailable),
        Protection(name="wall clock", active=fork, note="the run's whole process group is killed when its time is up"),
        Protection(name="environment", active=fork, note="an allow list; no key and no setting of the server"),
        Protection(name="private folders", active=fork, note="its own home and temporary folder, removed afterwards"),
        Protection(name="descriptors", active=fork, note="nothing that the server has open is inherited"),
        Protection(
            name="leftover processes",
            active=linux,
            note="what a run leaves behind is killed" if linux else "only the run's own process group is killed",
        ),
        Protection(name="known code", active=True, note="only the catalogue's own component code is executed"),
        Protection(name="file system", active=False, note="a run can read and write what your user can"),
        Protection(name="network", active=False, note="a run can reach what your user can"),
        Protection(name="memory and CPU", active=False, note="not limited"),
    )
