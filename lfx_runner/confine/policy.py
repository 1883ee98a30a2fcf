"""The confinement of one run: limits on what it may use, touch and reach, set before its request is read.

Each part is tried separately. The process tells its client which hold, and gets no flow unless those that are required
do, or the operator allows it (`runtime.engine.confinement`); `runner status` reports them all.
"""

import contextlib
import ctypes
import functools
import json
import math
import mmap
import os
import resource
import site
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, get_args

from lfx_runner.confine import landlock, seccomp
from lfx_runner.confine.linux import library
from lfx_runner.confine.root import enter_root, plan
from lfx_runner.stores.files import WORK

MEMORY = 3 * 1024**3
"""Bytes of data that a run may use, including those of the warm engine."""
ADDRESSES = 12 * 1024**3
"""Bytes of address space: more than any engine reserves, less than a bomb of shared memory."""
FILES = 256
FILE_SIZE = 64 * 1024**2
FOLDER_SIZE = "256m"
"""Size of a run's private folders together, where they can be a separate file system."""
CPU_MARGIN = 5
PARTS = ("home", "tmp", WORK)
"""The folders inside a run's private folder."""
PR_SET_NO_NEW_PRIVS = 38
CAPABILITY_VERSION = 0x20080522

SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/localtime")
LOOK_UPS = (
    "/etc/ssl",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/etc/pki",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/run/systemd/resolve",
    "/etc/nsswitch.conf",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/mime.types",
)
SINK = "/dev/null"
DEVICES = (SINK, "/dev/random", "/dev/urandom")
"""What a run can open of `/dev`; it writes to the first alone. None can be mapped: see `landlock.DEVICES`."""
FACTS = ("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu")
"""What numeric libraries ask for: the kind and number of processors, and the machine's memory as a whole.

Not among them is what counts or times the processes of others, as `/proc/stat` and the files of control groups do.
"""


def confine_process(private: Path, *readable: Path) -> list[str]:
    """Restrict files, processes, privileges and resources; `confine_network` restricts the network.

    Args:
        private: the one folder that stays writable.
        readable: folders of this run that it may only read.

    Returns:
        The names of the parts that hold.
    """
    held = [*_limit()]
    held += enter_root(private, PARTS, FOLDER_SIZE, _shown(*readable))
    if "folder size" not in held:
        for part in PARTS:
            (private / part).mkdir(mode=0o700, exist_ok=True)
    held += _drop_privileges()
    if landlock.abi():
        with contextlib.suppress(OSError):
            landlock.restrict_files((*_opened(), *readable), [private, Path(SINK)])
            if landlock.abi() >= landlock.TRUNCATE_SINCE:
                held.append("files")
            if landlock.abi() >= 6:
                held.append("signals")
    return held


def confine_network(
    seconds: float,
    ports: Collection[int] = (),
    *,
    on_listener: Callable[[int], None] = os.close,
) -> list[str]:
    """Restrict the network to what this run may reach, and limit its processor time.

    Args:
        seconds: the run's time limit; its processor time may be a little more.
        ports: the TCP ports that it connects to, on any host: those of the model gateway and the egress proxy, and what
            the operator names. Without any, it has no sockets.
        on_listener: called with the descriptor on which the kernel asks about unknown system calls.

    Returns:
        The names of the parts that hold.
    """
    held: list[str] = []
    allowed = math.ceil(seconds) + CPU_MARGIN
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + CPU_MARGIN))
        held.append("processor time")
    if seccomp.available():
        with contextlib.suppress(OSError):
            listener = seccomp.restrict_calls("tcp" if ports else "none")
            held += ["processes", "listening", "network", "system calls", "signals"]
            if listener is not None:
                on_listener(listener)
    with contextlib.suppress(OSError):
        if landlock.restrict_tcp(ports):
            held.append("ports")
    if {"ports", "network"} <= set(held):
        held += ["gateway", "egress"]
    return held


def _limit() -> Iterator[str]:
    limits = {
        "memory": (resource.RLIMIT_DATA, MEMORY),
        "address space": (resource.RLIMIT_AS, ADDRESSES),
        "open files": (resource.RLIMIT_NOFILE, FILES),
        "file size": (resource.RLIMIT_FSIZE, FILE_SIZE),
        "core dumps": (resource.RLIMIT_CORE, 0),
    }
    for name, (kind, value) in limits.items():
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(kind)
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
            yield name


def _drop_privileges() -> Iterator[str]:
    """Drop every capability, and the ability to gain any by starting a program."""
    if sys.platform != "linux":
        return
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if library().capset(header, nothing) == 0 and library().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        yield "privileges"


@functools.cache
def _named() -> frozenset[Path]:
    """The files and folders that a run may read, as they are named."""
    here = Path(__file__).resolve().parent
    base = {sys.base_prefix, sys.base_exec_prefix}
    # not what the installer of packages keeps for itself: a run that may read its lock may hold it
    own = [path for prefix in {sys.prefix, sys.exec_prefix} - base for path in _unhidden(Path(prefix))]
    python = {*base, *own, sysconfig.get_path("stdlib")}
    certificates = [os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)]
    named = (*python, *site.getsitepackages(), *SYSTEM, *LOOK_UPS, *FACTS, *certificates)
    return frozenset(path for path in (here, *(Path(name) for name in named if name)) if path.exists())


def _unhidden(folder: Path) -> list[str]:
    try:
        return [str(path) for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError:
        return []


@functools.cache
def _readable() -> frozenset[Path]:
    """Those of them that need a rule."""
    found = {path: path.resolve() for path in _named()}
    resolved = set(found.values())  # what is inside another folder needs no rule
    return frozenset(path for path, real in found.items() if not resolved & set(real.parents))


@functools.cache
def _opened() -> tuple[Path, ...]:
    """Those that need a rule, and the devices."""
    return *_readable(), *(Path(device) for device in DEVICES)


@functools.cache
def _shown(*readable: Path) -> frozenset[Path]:
    """The files and folders that a run can see besides its own."""
    devices = (Path(device) for device in DEVICES)
    return frozenset({*_named(), *readable, *(device for device in devices if device.exists())})


def prepare() -> None:
    """Compute what every confinement needs, in the process from which runs are forked."""
    landlock.abi()
    _opened()
    plan(_shown())
    if seccomp.available():
        for sockets in get_args(seccomp.Sockets):
            for named in (True, False):
                seccomp.compiled(sockets, named=named)


def supported() -> dict[str, Any]:
    """The parts that this kernel says it has of those that no run goes without; a run tries them all."""
    version = landlock.abi()
    parts = {
        "files": version >= landlock.TRUNCATE_SINCE,
        "privileges": sys.platform == "linux",
        "system calls": seccomp.available(),
        "ports": version >= landlock.TCP_SINCE,
    }
    return {"held": [part for part, has in parts.items() if has], "landlock": version}


def probe(folder: Path) -> dict[str, Any]:
    """The parts that hold on this machine, each tried in a child process."""
    return {"held": _held_by(lambda: confine_network(10), folder / "closed"), "landlock": landlock.abi()}


def _unreadable_memory() -> Iterator[str]:
    """Try to open the memory of this process and of the one that it was forked from."""
    for path in ("/proc/self/mem", "/proc/self/maps", f"/proc/{os.getppid()}/mem"):
        try:
            os.close(os.open(path, os.O_RDONLY))
        except OSError:
            continue
        return
    yield "memory of others"


def _uncounted_memory() -> bool:
    """Whether memory can be mapped that the limit of data does not count: of a device, shared, or growing downwards."""
    try:
        device = os.open("/dev/zero", os.O_RDWR)
        mmap.mmap(device, mmap.PAGESIZE).close()
    except OSError:
        pass
    else:
        return True
    try:
        mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | seccomp.MAP_GROWSDOWN).close()
    except OSError:
        return False
    return True


def _signal_leaves() -> bool:
    """Whether the process that this one was forked from can be signalled."""
    try:
        os.kill(os.getppid(), 0)
    except OSError:
        return False
    return True


def _held_by(network: Callable[[], list[str]], folder: Path) -> list[str]:
    """The parts that hold in a process that confines itself and its network."""
    folder.mkdir(mode=0o700)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setsid()
            held = {*confine_process(folder), *network(), *_unreadable_memory()}
            untrue = {"memory"} if _uncounted_memory() else set[str]()
            untrue |= {"signals"} if _signal_leaves() else set()
            os.write(writing, json.dumps(sorted(held - untrue)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else []
