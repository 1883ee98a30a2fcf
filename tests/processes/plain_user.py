"""Runs a command as a user without any privilege: `python -m tests.processes.plain_user COMMAND...`, as root on Linux.

Root's own folders, in which its Python may be, are made passable in mounts of this process alone.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from lfx_runner.confine.linux import library
from lfx_runner.confine.root import CLONE_NEWNS, MS_BIND, MS_PRIVATE, MS_REC, checked, mount

NOBODY = 65534


def become_plain_user(*needed: Path) -> None:
    """Give up root for good, with these folders within reach.

    Raises:
        OSError: the system allows no mounts.
    """
    checked(library().unshare(CLONE_NEWNS))
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    for path in needed:
        closed = next((each for each in reversed(path.parents) if not each.stat().st_mode & 0o001), None)
        if closed is not None:
            held = tempfile.mkdtemp()
            mount(str(path), held, None, MS_BIND | MS_REC)
            mount(None, str(closed), "tmpfs", 0, "mode=0755")
            path.mkdir(parents=True)
            mount(held, str(path), None, MS_BIND | MS_REC)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def own_folders(cache: Path) -> dict[str, str]:
    """The variables that name folders of the plain user, with the installed engines of a cache in one of them."""
    folder = Path(tempfile.mkdtemp(prefix="plain-user-"))
    copy = folder / "cache"
    for installed in (each for each in (cache / "runner").iterdir() if each.is_dir()):
        own = copy / "runner" / installed.name
        own.mkdir(parents=True)
        for part in installed.iterdir():
            if part.is_dir():
                (own / part.name).symlink_to(part)
            else:
                shutil.copyfile(part, own / part.name)
    shutil.copyfile(cache / "catalogue.json", copy / "catalogue.json")
    for each in (folder, *folder.rglob("*")):
        os.chown(each, NOBODY, NOBODY, follow_symlinks=False)
    return {"HOME": str(folder), "TMPDIR": str(folder), "WIREWRIGHT_CACHE": str(folder / "cache")}


if __name__ == "__main__":
    os.environ.update(own_folders(Path(os.environ["WIREWRIGHT_CACHE"])), PYTHONDONTWRITEBYTECODE="1")
    try:
        become_plain_user(Path(sys.base_prefix).resolve())
    except OSError as refused:
        sys.exit(f"no mounts here: {refused}")
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - the point of it
