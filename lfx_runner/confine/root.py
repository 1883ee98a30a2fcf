"""A root folder of the run's own: it holds what the run may read and its private folder, so other files have no name.

Landlock refuses to open other files, but not to ask for their size and times (`stat`). In a mount namespace of its own,
a process sees only what is mounted there. Root may make one, and so may every user where the system allows user
namespaces; elsewhere the run sees the machine's files as before.
"""

import ctypes
import functools
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from lfx_runner.confine.linux import library

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 0x1000, 0x4000, 1 << 18
MNT_DETACH = 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
ROOT_SIZE = "1m"
MAX_LINKS = 40
MAX_FILES = 16_384
"""Files, folders and links in a private folder: each takes memory of the kernel that its size does not count."""


@dataclass(frozen=True)
class RootPlan:
    """What the root folder holds.

    Attributes:
        folders: the folders to make, outer ones first.
        links: symbolic links with their targets.
        mounts: files and folders of the machine, and whether each is a folder.
    """

    folders: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    mounts: tuple[tuple[str, bool], ...]

    @classmethod
    def of(cls, shown: Iterable[Path]) -> "RootPlan":
        """The plan that makes these paths, with the links on the way to them, lead where they do on the machine."""
        folders, links, mounts = dict[str, None](), dict[str, str](), dict[str, bool]()
        for path in sorted(shown, key=lambda each: (_follow(each, {}), str(each))):
            real = _follow(path, links)
            if not any(real == each or real.startswith(f"{each}/") for each in mounts):
                is_folder = Path(real).is_dir()
                mounts[real] = is_folder
                folders |= dict.fromkeys(_above(real))
                if is_folder:
                    folders[real] = None
        folders |= dict.fromkeys(folder for link in links for folder in _above(link))
        inside = tuple(f"{each}/" for each in mounts)
        return cls(
            folders=tuple(sorted(folder for folder in folders if not folder.startswith(inside))),
            links=tuple((link, target) for link, target in links.items() if not link.startswith(inside)),
            mounts=tuple(mounts.items()),
        )


@functools.cache
def plan(shown: frozenset[Path]) -> RootPlan:
    """The plan for these paths, made once, before processes are forked."""
    return RootPlan.of(shown)


def enter_root(private: Path, parts: Iterable[str], size: str, shown: frozenset[Path]) -> list[str]:
    """Give this process a root folder of its own, with file systems in memory of limited size.

    Args:
        private: the private folder, which has the same path afterwards.
        parts: folders to make in it.
        size: of the private folder.
        shown: the files and folders of the machine that stay visible.

    Returns:
        What holds: "folder size", and "file names" if nothing else of the machine is visible.
    """
    if sys.platform != "linux" or platform.machine() not in PIVOT_ROOT or not _own_mounts():
        return []
    base = os.path.realpath(private)
    held: list[str] = []
    try:
        mount(None, base, "tmpfs", MS_NOSUID | MS_NODEV, f"size={ROOT_SIZE},mode=0755")
    except OSError:
        return held
    try:
        _furnish(base, plan(shown))
        inner = base + base
        os.makedirs(inner, exist_ok=True)  # noqa: PTH103 - plain text is faster
        mount(None, inner, "tmpfs", MS_NOSUID | MS_NODEV, f"size={size},nr_inodes={MAX_FILES},mode=0700")
        _turn(base)
        held = ["folder size", "file names"]
    except OSError:
        library().umount2(os.fsencode(base), MNT_DETACH)
        try:
            mount(None, base, "tmpfs", MS_NOSUID | MS_NODEV, f"size={size},nr_inodes={MAX_FILES},mode=0700")
        except OSError:
            return []
        held = ["folder size"]
    for part in parts:
        (private / part).mkdir(mode=0o700)
    return held


def _own_mounts() -> bool:
    """Whether this process has mounts of its own now."""
    user, group = os.geteuid(), os.getegid()
    if library().unshare(CLONE_NEWNS) != 0:
        if library().unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0:
            return False
        try:
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
        except OSError:
            return False
    try:
        mount(None, "/", None, MS_REC | MS_PRIVATE)
    except OSError:
        return False
    return True


def _furnish(base: str, wanted: RootPlan) -> None:
    for folder in wanted.folders:
        os.mkdir(base + folder)  # noqa: PTH102 - plain text is faster
    for link, target in wanted.links:
        os.symlink(target, base + link)  # noqa: PTH211 - likewise
    for path, is_folder in wanted.mounts:
        if not is_folder:
            os.close(os.open(base + path, os.O_CREAT | os.O_WRONLY, 0o600))
        mount(path, base + path, None, MS_BIND | MS_REC)


def _turn(base: str) -> None:
    """Make a folder the root, and let go of the old one."""
    os.chdir(base)
    checked(library().syscall(ctypes.c_long(PIVOT_ROOT[platform.machine()]), b".", b"."))
    checked(library().umount2(b".", MNT_DETACH))
    os.chdir("/")


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Mount; raises OSError if the kernel refuses."""
    given = [None if text is None else os.fsencode(text) for text in (source or "none", target, kind, options)]
    checked(library().mount(given[0], given[1], given[2], ctypes.c_ulong(flags), given[3]))


def checked(result: int) -> None:
    """Raise OSError unless a call of the C library has returned 0."""
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _follow(path: Path, links: dict[str, str]) -> str:
    """The real path that a path leads to; adds the links on the way."""
    parts, current, left = list(reversed(path.absolute().parts[1:])), "/", MAX_LINKS
    while parts:
        part = parts.pop()
        if part == "..":
            current = str(PurePath(current).parent)
            continue
        here = os.path.join(current, part)  # noqa: PTH118 - plain text is faster
        if not Path(here).is_symlink() or not left:
            current = here
            continue
        left -= 1
        target = os.readlink(here)  # noqa: PTH115 - likewise
        links[here] = target
        steps = PurePath(target).parts
        if PurePath(target).is_absolute():
            current, steps = "/", steps[1:]
        parts += reversed(steps)
    return current


def _above(path: str) -> list[str]:
    """The folders above a path, without the root."""
    return [str(each) for each in reversed(PurePath(path).parents) if str(each) != "/"]
