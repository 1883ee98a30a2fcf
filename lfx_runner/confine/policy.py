"""The confinement of one run: what it may use, touch and reach, taken away before its request is read.

Every part is tried on its own: a part that this kernel does not have is left out, and `runner status` says so.
"""

import contextlib
import ctypes
import functools
import json
import math
import os
import resource
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

if __package__:
    from lfx_runner.confine import landlock, seccomp
else:  # run as a script, to say what holds here
    sys.path.insert(0, str(Path(__file__).parent))
    import landlock  # type: ignore[no-redef]  # the same module by its other name
    import seccomp  # type: ignore[no-redef]  # likewise

Network = Literal["gateway-only", "open"]

MEMORY = 3 * 1024**3
"""Bytes of data that a run may take, the warm engine's own included."""
ADDRESSES = 12 * 1024**3
"""Bytes of address space: more than any engine reserves, less than a bomb of shared memory."""
FILES = 256
FILE_SIZE = 64 * 1024**2
FOLDER_SIZE = "256m"
"""What a run's private folders may hold together, where they can be a file system of their own."""
CPU_MARGIN = 5
PROBED_PORT = 9
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_REC, MS_PRIVATE, MS_NOSUID, MS_NODEV = 0x4000, 1 << 18, 2, 4
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
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
FACTS = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu", "/sys/fs/cgroup")


@dataclass(frozen=True)
class Closed:
    """Ports that open runs do not connect to, and the rules for it; an empty set needs none.

    Attributes:
        ports: the ports.
        ruleset: a descriptor of the rules, made once and put on many processes; None where there are none.
    """

    ports: frozenset[int] = frozenset()
    ruleset: int | None = None

    @classmethod
    def made(cls, ports: frozenset[int]) -> "Closed":
        """The rules for these ports, which takes a moment.

        Raises:
            OSError: the kernel has such rules, and refused these.
        """
        return cls(ports, landlock.every_port_but(ports) if ports and landlock.abi() >= 4 else None)

    def enforce(self) -> None:
        """Put the rules on this process. They are many, so nothing else of Landlock's should follow.

        Raises:
            OSError: the kernel refused.
        """
        if self.ruleset is not None:
            landlock.enforce(self.ruleset)

    def let_go(self) -> None:
        """Close the descriptor."""
        if self.ruleset is not None:
            os.close(self.ruleset)


def confine_process(private: Path) -> list[str]:
    """Take away files, processes, privileges and resources; the network is left for `confine_network`.

    Args:
        private: the one folder that stays writable.

    Returns:
        The names of the parts that hold.
    """
    held = [*_limit(), *_own_file_system(private), *_drop_privileges()]
    if landlock.abi():
        with contextlib.suppress(OSError):
            landlock.restrict_files(_readable(), [private, *(Path(device) for device in DEVICES)])
            held.append("files")
            if landlock.abi() >= 6:
                held.append("signals")
    return held


def confine_network(
    network: Network,
    seconds: float,
    gateway: int | None = None,
    *,
    closed: frozenset[int] = frozenset(),
    expected: Closed = Closed(),
    ahead: bool = False,
) -> list[str]:
    """Take away the network, as far as this run may not have it, and set its processor time.

    Args:
        network: `open` leaves going out by TCP and UDP; `gateway-only` leaves the gateway, if the run has one.
        seconds: the run's time limit; its processor time may be a little more.
        gateway: the port of loopback that a run with models connects to; None leaves `gateway-only` without sockets.
        closed: ports that an open run must not connect to, the server's for instance.
        expected: ports whose rules were made before.
        ahead: whether those are closed in this process already.

    Returns:
        The names of the parts that hold.

    Raises:
        OSError: the kernel can close ports, and did not.
    """
    held: list[str] = []
    allowed = math.ceil(seconds) + CPU_MARGIN
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + CPU_MARGIN))
        held.append("processor time")
    if seccomp.available():
        with contextlib.suppress(OSError):
            seccomp.restrict_calls("internet" if network == "open" else "none" if gateway is None else "tcp")
            held += ["processes", "listening", "network"]
    if network == "open" and closed:
        held += _close(closed, expected, ahead=ahead)
    elif not (ahead and expected.ports and gateway is None and "network" in held):  # more rules on so many are slow
        with contextlib.suppress(OSError):
            if landlock.restrict_tcp(None if network == "open" else () if gateway is None else (gateway,)):
                held.append("ports")
    if {"ports", "network"} <= set(held):
        held.append("server" if network == "open" else "gateway")
    return held


def _close(ports: frozenset[int], expected: Closed, *, ahead: bool) -> list[str]:
    """Close ports that are not closed yet. What cannot be closed ends the run, unless the kernel never can."""
    if landlock.abi() < 4:
        return []
    if ahead and ports <= expected.ports:
        return ["ports"]
    if ports == expected.ports:
        expected.enforce()
    else:
        rules = Closed.made(ports)
        rules.enforce()
        rules.let_go()
    return ["ports"]


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


def _own_file_system(private: Path) -> Iterator[str]:
    """Give the private folder a size, as a file system in memory that only this process sees; root can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return
    library = _library()
    if library.unshare(CLONE_NEWNS) != 0:
        return
    if library.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return
    options = f"size={FOLDER_SIZE},mode=0700".encode()
    if library.mount(b"tmpfs", os.fsencode(private), b"tmpfs", MS_NOSUID | MS_NODEV, options) != 0:
        return
    for name in ("home", "tmp"):
        (private / name).mkdir(mode=0o700)
    yield "folder size"


def _drop_privileges() -> Iterator[str]:
    """Give up every capability, and gaining any by starting a program."""
    if sys.platform != "linux":
        return
    library = _library()
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if library.capset(header, nothing) == 0 and library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        yield "privileges"


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@functools.cache
def _readable() -> frozenset[Path]:
    here = Path(__file__).resolve().parent
    python = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, sysconfig.get_path("stdlib")}
    certificates = [os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)]
    named = (*python, *site.getsitepackages(), *SYSTEM, *LOOK_UPS, *FACTS, *certificates)
    found = {path: path.resolve() for path in (here, *(Path(name) for name in named if name)) if path.exists()}
    every = set(found.values())  # what is inside another one needs no rule of its own
    return frozenset(path for path, real in found.items() if not every & set(real.parents))


def prepare() -> None:
    """Find out what every confinement needs, in the process that will be forked for each."""
    landlock.abi()
    _readable()
    if seccomp.available():
        for sockets in get_args(seccomp.Sockets):
            seccomp.compiled(sockets)


def probe(folder: Path) -> dict[str, Any]:
    """What holds on this machine, tried in a process of its own."""
    closed = _held_by(lambda: confine_network("gateway-only", 10), folder / "closed")
    opened = _held_by(lambda: confine_network("open", 10, closed=frozenset({PROBED_PORT})), folder / "open")
    return {"held": [*closed, *(["server"] if "server" in opened else [])], "landlock": landlock.abi()}


def _held_by(network: Callable[[], list[str]], folder: Path) -> list[str]:
    """The parts that hold in a process that confines itself and its network."""
    folder.mkdir(mode=0o700)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writing, json.dumps([*confine_process(folder), *network()]).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else []


if __name__ == "__main__":
    sys.stdout.write(json.dumps(probe(Path(sys.argv[1]))) + "\n")
