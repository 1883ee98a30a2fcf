"""What this kernel can hold of a run's confinement, asked of the kernel itself and never of the product.

The escape tests go by it: a product that fails to confine on a kernel that can must fail them, not have them skipped.
So nothing of the product is imported here.
"""

import ctypes
import functools
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

CREATE_RULESET, VERSION = 444, 1
SECCOMP = {"x86_64": 317, "aarch64": 277}
GET_ACTION_AVAILABLE, REFUSE = 2, 0x00050000
LANDLOCK_SINCE = ((5, 13), (5, 19), (6, 2), (6, 7), (6, 10), (6, 12), (6, 15))
"""The first Linux with each version of Landlock."""
MODULES = Path("/sys/kernel/security/lsm")
_ENTER_ROOT = """
import ctypes, os, platform, sys, tempfile
libc = ctypes.CDLL(None, use_errno=True)
user, group = os.geteuid(), os.getegid()
def checked(result):
    if result: sys.exit(1)
folder = os.path.realpath(tempfile.mkdtemp(dir=sys.argv[1])).encode()
if libc.unshare(0x00020000):
    checked(libc.unshare(0x10020000))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file: file.write(text)
checked(libc.mount(b"none", b"/", None, ctypes.c_ulong(0x4000 | 1 << 18), None))
checked(libc.mount(b"none", folder, b"tmpfs", ctypes.c_ulong(6), b"size=1m"))
os.chdir(folder)
checked(libc.syscall(ctypes.c_long({"x86_64": 155, "aarch64": 41}[platform.machine()]), b".", b"."))
checked(libc.umount2(b".", 2))
os.chdir("/")
sys.exit(len(os.listdir("/")))
"""


def version() -> tuple[int, int]:
    """The major and minor version of Linux; (0, 0) on another system."""
    found = re.match(r"(\d+)\.(\d+)", platform.release()) if sys.platform == "linux" else None
    return (int(found[1]), int(found[2])) if found else (0, 0)


def newest_landlock() -> int:
    """The newest version of Landlock that this Linux may have, by its own version."""
    return sum(version() >= since for since in LANDLOCK_SINCE)


def security_modules() -> frozenset[str] | None:
    """The security modules that are active; None where the kernel does not say."""
    try:
        return frozenset(MODULES.read_text(encoding="ascii").strip().split(","))
    except OSError:
        return None


@functools.cache
def landlock() -> int:
    """The version of Landlock that the kernel has; 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, ctypes.CDLL(None).syscall(ctypes.c_long(CREATE_RULESET), None, ctypes.c_size_t(0), VERSION))


@functools.cache
def seccomp() -> bool:
    """Whether the kernel takes filters of system calls that refuse."""
    number = SECCOMP.get(platform.machine())
    if sys.platform != "linux" or number is None:
        return False
    action = ctypes.c_uint32(REFUSE)
    return not ctypes.CDLL(None).syscall(ctypes.c_long(number), GET_ACTION_AVAILABLE, 0, ctypes.byref(action))


@functools.cache
def own_root(folder: str = "/tmp") -> bool:  # noqa: S108 - only an empty folder is made there
    """Whether this user may have a root folder of its own, in mounts of its own."""
    if sys.platform != "linux":
        return False
    tried = subprocess.run([sys.executable, "-c", _ENTER_ROOT, folder], capture_output=True, timeout=60, check=False)
    return tried.returncode == 0


def confines() -> bool:
    """Whether the kernel has what no run goes without, so that flows run here without the operator's leave."""
    return landlock() >= 4 and seccomp()


@functools.cache
def must_hold() -> frozenset[str]:
    """The protections, as the status names them, that a run must have on this kernel."""
    held = set[str]()
    if os.name == "posix":
        held |= {"processor time", "open files", "file size"}
    if sys.platform == "linux":
        held |= {"privileges"}
    if own_root():
        held |= {"folder size", "names of files"}
    if landlock() >= 1:
        held |= {"memory of others"}
    if landlock() >= 3:
        held |= {"file system"}
    if seccomp():
        held |= {"processes", "system calls", "signals", "listening", "network of verification runs"}
        if landlock() >= 1:
            held |= {"memory"}
        if landlock() >= 4:
            held |= {"network of verification runs with models", "network of other runs"}
    return frozenset(held)
