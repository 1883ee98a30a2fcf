"""Reports how runs are isolated on this machine; each part of the confinement is tried, not assumed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flows.json_values import as_object
from runtime.engine.confinement import (
    CANNOT_FORK,
    UNTRIED,
    Confinement,
    ConfinementRule,
    can_fork,
    rule_of_environment,
)
from runtime.results import RunError

PROBE_SECONDS = 60.0
"""What the trial may take: half a second, and much longer on a busy machine."""

_CONFINED: Mapping[str, tuple[str, str, str]] = {
    "files": (
        "file system",
        "reads the engine and system libraries, writes its private folder, nothing else",
        "Landlock 3",
    ),
    "memory of others": (
        "memory of others",
        "no process's memory can be opened, and what a run inherits has seen no other run",
        "Landlock",
    ),
    "signals": ("signals", "no signal to a process outside the run", "seccomp or Landlock 6"),
    "processes": ("processes", "no new process and no program can be started", "seccomp"),
    "system calls": (
        "system calls",
        "those that flows make, and no other: a call that is not on the list is refused and named in the result",
        "seccomp",
    ),
    "privileges": ("privileges", "no capabilities, and no way to gain any", "Linux"),
    "memory": (
        "memory",
        "3 GB for a run, in whatever way it takes them",
        "resource limits, Landlock and seccomp. Data are limited to 3 GB, memory shared with a device is not",
    ),
    "processor time": ("processor time", "little more than the run's time limit", "resource limits"),
    "open files": ("open files", "256 for a run", "resource limits"),
    "file size": ("file size", "64 MB a file", "resource limits"),
    "folder size": (
        "folder size",
        "256 MB in all private folders together",
        "private mounts, which need root or user namespaces",
    ),
    "file names": (
        "names of files",
        "files outside cannot be seen: not that they exist, nor their size and times",
        "mounts of its own (root or user namespaces). A run can ask for the size and times of a file that it can name",
    ),
    "listening": ("listening", "no TCP port can be opened to others", "seccomp"),
    "network": ("network of verification runs", "no socket can be opened, unless the run calls models", "seccomp"),
    "gateway": (
        "network of verification runs with models",
        "TCP to the port of the model gateway; no UDP, no name look-ups, no other socket",
        "Landlock 4 and seccomp",
    ),
    "egress": (
        "network of other runs",
        "TCP to the proxy, which checks and records hosts, to the gateway and to named ports; no UDP, no name look-ups",
        "Landlock 4 and seccomp, so that the proxy is advisory: code can connect past it",
    ),
}
"""Parts of the confinement: a name, a note, and what a system needs for it."""


@dataclass(frozen=True, kw_only=True)
class Protection:
    """One protection; `note` says how it works, or why it is not active."""

    name: str
    active: bool
    note: str


def try_confinement(source: Path) -> Confinement | None:
    """What confines a run on this system: a process confines itself, which takes a moment. None if that failed.

    Args:
        source: the folder of the runner's source.
    """
    with tempfile.TemporaryDirectory(prefix="wirewright-probe-") as folder:
        try:
            tried = subprocess.run(  # noqa: S603 - a fixed command
                [sys.executable, "-I", str(source / "main.py"), "probe", folder],
                capture_output=True,
                timeout=PROBE_SECONDS,
                check=False,
            )
            return Confinement.read(as_object(json.loads(tried.stdout)))
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None


def refusal_of_machine(source: Path, rule: ConfinementRule) -> RunError | None:
    """Why no flow runs on this system under a rule; None when flows run, or when that could not be tried.

    Args:
        source: the folder of the runner's source.
        rule: the operator's.
    """
    if not can_fork():
        return CANNOT_FORK
    tried = try_confinement(source)
    return None if tried is None else tried.refusal(rule)


def refusal_here(confinement: Confinement | None) -> RunError | None:
    """Why no flow runs on this system under the operator's rule; None when flows run.

    Args:
        confinement: what confines a run here; None if that could not be tried.
    """
    if not can_fork():
        return CANNOT_FORK
    return UNTRIED if confinement is None else confinement.refusal(rule_of_environment())


def protections(source: Path, confinement: Confinement | None = None) -> tuple[Protection, ...]:
    """The protections of a run on this system.

    Args:
        source: the folder of the runner's source.
        confinement: what confines a run here, when it was tried; by default it is tried.
    """
    fork = can_fork()
    linux = sys.platform == "linux"
    tried = confinement or (try_confinement(source) if fork else None)
    held = frozenset[str]() if tried is None else tried.held
    unavailable = "this system cannot fork, so flows do not run here"
    return (
        Protection(name="own process", active=fork, note="every run is a process of its own" if fork else unavailable),
        Protection(name="wall clock", active=fork, note="the run's whole process group is killed when its time is up"),
        Protection(name="environment", active=fork, note="an allow list; no key and no setting of the server"),
        Protection(
            name="private folders", active=fork, note="a home and a temporary folder for each run, removed afterwards"
        ),
        Protection(name="descriptors", active=fork, note="nothing that the server has open is inherited"),
        Protection(
            name="leftover processes",
            active=linux,
            note="what a run leaves behind is killed" if linux else "only the run's own process group is killed",
        ),
        Protection(name="known code", active=True, note="code of the catalogue, or code that the guard has read"),
        *(
            Protection(name=name, active=part in held, note=note if part in held else f"not here: needs {needs}")
            for part, (name, note, needs) in _CONFINED.items()
        ),
        Protection(
            name="model keys", active=True, note="no provider's key is in a run: models are called by a gateway"
        ),
        Protection(
            name="these ports elsewhere",
            active=False,
            note="advisory: the kernel knows ports, not hosts, so a run can connect to the same port numbers of other "
            "hosts, too, unseen by the proxy",
        ),
    )
