"""A seccomp filter that allows the system calls that runs make, and refuses every other one.

Written as classic BPF (`include/uapi/linux/seccomp.h`, `filter.h`). A filter cannot be removed, a second one can only
restrict further, and it holds for root as well. A call that is not on the list answers `ENOSYS`; the kernel tells
whoever listens which one it was.
"""

import ctypes
import errno
import functools
import os
import platform
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Literal

from lfx_runner.confine.calls import ALLOWED, DENIED
from lfx_runner.confine.linux import library
from lfx_runner.confine.numbers import NUMBERS

Sockets = Literal["none", "tcp"]
Instruction = tuple[int, int, int, int]

LOAD, EQUAL, ABOVE, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW = 0x7FFF0000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
CLONE_THREAD = 0x00010000
AF_INET = 2
SOCK_STREAM = 1
IPPROTO_ANY, IPPROTO_TCP = 0, 6
TCP_ULP = 31
SOL_SOCKET = 1
BUFFER_SIZES = (7, 8, 32, 33)
"""Options that make the buffers of a socket larger: no limit of a process counts what lies in them."""
MSG_FASTOPEN = 0x20000000
X32 = 0x40000000
NOTIFY = 0x7FC00000
SET_MODE_FILTER, GET_ACTION_AVAILABLE, NEW_LISTENER = 1, 2, 1 << 3
REFUSE = 0x00050000
MAP_SHARED_ANONYMOUS, MAP_GROWSDOWN = 0x21, 0x100
PR_SET_NAME, PR_GET_NAME, PR_SET_VMA = 15, 16, 0x53564D41
TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX = 0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451
FILE_COMMANDS = (*range(6), 36, 1030, 1031, 1032)
"""Commands of `fcntl` that duplicate descriptors, read and set their flags, look for locks, and size pipes.

Not among them are those that have the kernel send signals (`F_SETOWN`, `F_SETSIG`) and that watch folders (`F_NOTIFY`).
"""
LOCK_COMMANDS = (6, 7, 37, 38)
"""Commands of `fcntl` that lock a part of a file. Like `flock`, they succeed without any effect.

No other process opens the files of a run, so that no lock on them would ever be refused; one on a file of the machine,
which the run can only read, would stop others.
"""
CLOCKS = 32
"""Clocks below this number are those of the machine and of the calling thread; others are of any process by its id."""
OWN, OWN_GROUP = 0x7FFFFFF1, 0x7FFFFFF2
"""Stand for the process id and the group of the process that applies the filter, until it does."""
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The number of each architecture that the filter supports."""
_FLAGS = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
"""Calls that send data, and which of their arguments holds the flags."""
_EXAMINED = frozenset(
    {
        *("clone", "clone3", "socket", "setsockopt", "prlimit64", "mmap", "prctl", "ioctl", "fcntl"),
        *("kill", "tkill", "tgkill", "flock"),
        *("getpgid", "getsid", "getpriority", "sched_getaffinity", "sched_getparam", "sched_getscheduler"),
        *("clock_gettime", "clock_getres", "clock_nanosleep"),
        *_FLAGS,
    }
)


def available() -> bool:
    """Whether the filter supports this system and architecture, and the kernel says that it takes filters."""
    if sys.platform != "linux" or platform.machine() not in AUDIT:
        return False
    number, action = NUMBERS[platform.machine()]["seccomp"], ctypes.c_uint32(REFUSE)
    return not library().syscall(ctypes.c_long(number), GET_ACTION_AVAILABLE, 0, ctypes.byref(action))


def restrict_calls(sockets: Sockets) -> int | None:
    """Apply the filter to this process, which leads a group of its own. `no_new_privs` must be set already.

    Args:
        sockets: `none` refuses every new socket (pairs within the process are allowed); `tcp` allows TCP over IPv4.

    Returns:
        A descriptor on which the kernel asks about calls that are not on the list; once it is closed everywhere, they
        answer `ENOSYS`. None where the kernel cannot ask; they answer so at once then.

    Raises:
        OSError: the kernel refused.
    """
    number = NUMBERS[platform.machine()]["seccomp"]
    for named in (True, False):
        program = compiled(sockets, named=named).of_process(os.getpid())
        flags = NEW_LISTENER if named else 0
        if (found := library().syscall(ctypes.c_long(number), SET_MODE_FILTER, flags, ctypes.byref(program))) >= 0:
            return int(found) if named else None
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


class Compiled:
    """A filter in the form that the kernel takes, and the memory that it points to."""

    def __init__(self, program: Sequence[Instruction]) -> None:
        """Take over instructions in which `OWN` and `OWN_GROUP` stand for numbers that are not known yet."""
        code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
        self._memory = ctypes.create_string_buffer(code, len(code))
        self._program = Program(len(program), ctypes.addressof(self._memory))
        self._places = [
            (8 * place + 4, value) for place, (*_, value) in enumerate(program) if value in (OWN, OWN_GROUP)
        ]

    def of_process(self, pid: int) -> Program:
        """The filter for a process that leads its group."""
        for place, value in self._places:
            struct.pack_into("=i", self._memory, place, pid if value == OWN else -pid)
        return self._program


@functools.cache
def compiled(sockets: Sockets, *, named: bool) -> Compiled:
    """The filter, compiled once, before forking; a process only fills in its own number.

    Args:
        sockets: which sockets it allows.
        named: whether calls that are not on the list are asked about.
    """
    return Compiled(_program(sockets, named=named))


def _refuse(code: int = errno.EPERM) -> Instruction:
    return RETURN, 0, 0, REFUSE | code


def _program(sockets: Sockets, *, named: bool) -> list[Instruction]:
    number = NUMBERS[platform.machine()]
    allow: Instruction = (RETURN, 0, 0, ALLOW)
    unknown: Instruction = (RETURN, 0, 0, NOTIFY) if named else _refuse(errno.ENOSYS)
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, AUDIT[platform.machine()]),
        _refuse(),
        (LOAD, 0, 0, NUMBER),
        (ABOVE, 0, 1, X32),
        _refuse(errno.ENOSYS),
    ]
    for names, answer in ((ALLOWED - _EXAMINED, allow), (DENIED, _refuse())):
        for name in sorted(names & set(number)):
            program += [(EQUAL, 0, 1, number[name]), answer]
    # glibc falls back to clone, whose flags a filter can read
    program += [(EQUAL, 0, 1, number["clone3"]), _refuse(errno.ENOSYS)]
    program += _when(number["clone"], [(LOAD, 0, 0, ARGUMENTS), (ANY_BIT, 1, 0, CLONE_THREAD), _refuse(), allow])
    # reading limits is prlimit64 without a new value
    low, high = ARGUMENTS + 16, ARGUMENTS + 20
    reading = [(LOAD, 0, 0, low), (EQUAL, 0, 2, 0), (LOAD, 0, 0, high), (EQUAL, 1, 0, 0), _refuse()]
    program += _when(number["prlimit64"], [*reading, *_one_of(0, (OWN, 0), _refuse())])
    # no limit counts memory that is shared and has no file, nor memory that grows down like the first stack
    growing = [(LOAD, 0, 0, ARGUMENTS + 24), (ANY_BIT, 0, 1, MAP_GROWSDOWN), _refuse()]
    shared = [(AND, 0, 0, MAP_SHARED_ANONYMOUS), (EQUAL, 0, 1, MAP_SHARED_ANONYMOUS)]
    program += _when(number["mmap"], [*growing, *shared, _refuse(), allow])
    program += _when(number["prctl"], _one_of(0, (PR_SET_NAME, PR_GET_NAME, PR_SET_VMA), unknown))
    streams = (TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX)
    program += _when(number["ioctl"], _one_of(1, streams, _refuse(errno.ENOTTY)))
    locks = [(EQUAL, 0, 1, command) for command in LOCK_COMMANDS]
    locking = [step for test in locks for step in (test, _refuse(0))]
    program += _when(number["fcntl"], [(LOAD, 0, 0, ARGUMENTS + 8), *locking, *_one_of(1, FILE_COMMANDS, _refuse())])
    program += _when(number["flock"], [_refuse(0)])
    program += _of_itself(number)
    # a thread is named by its number alone in tkill, so only the first one can be told from those of others
    for name, targets in (("kill", (OWN, 0, OWN_GROUP)), ("tgkill", (OWN,)), ("tkill", (OWN,))):
        program += _when(number[name], _one_of(0, targets, _refuse()))
    for name, place in _FLAGS.items():
        # TCP Fast Open connects without the connect call that Landlock checks
        flags = [(LOAD, 0, 0, ARGUMENTS + 8 * place), (ANY_BIT, 0, 1, MSG_FASTOPEN), _refuse(), allow]
        program += _when(number[name], flags)
    # an upper-layer protocol may turn a TCP socket into one that Landlock does not check, such as SMC
    upper_layer = [(LOAD, 0, 0, ARGUMENTS + 8), (EQUAL, 0, 3, IPPROTO_TCP), (LOAD, 0, 0, ARGUMENTS + 16)]
    sizes = [(EQUAL, len(BUFFER_SIZES) - place, 0, size) for place, size in enumerate(BUFFER_SIZES)]
    buffers = [
        *((LOAD, 0, 0, ARGUMENTS + 8), (EQUAL, 0, len(sizes) + 3, SOL_SOCKET), (LOAD, 0, 0, ARGUMENTS + 16)),
        *(*sizes, (RETURN, 0, 0, ALLOW), _refuse(0)),  # programs that ask for other sizes work with the usual ones
    ]
    program += _when(number["setsockopt"], [*buffers, *upper_layer, (EQUAL, 0, 1, TCP_ULP), _refuse(), allow])
    program += _when(number["socket"], [_refuse()] if sockets == "none" else _tcp())
    return [*program, unknown]


def _of_itself(number: Mapping[str, int]) -> list[Instruction]:
    """Instructions that let a process ask about itself alone: what differs for others would tell which there are."""
    program: list[Instruction] = []
    for name, place in (("getpgid", 0), ("getsid", 0), ("sched_getparam", 0), ("sched_getscheduler", 0)):
        program += _when(number[name], _one_of(place, (OWN, 0), _refuse(errno.ESRCH)))
    # the C library asks for its own threads by their numbers, and goes on where the kernel does not know the call
    program += _when(number["sched_getaffinity"], _one_of(0, (OWN, 0), _refuse(errno.ENOSYS)))
    own = [(LOAD, 0, 0, ARGUMENTS), (EQUAL, 1, 0, 0), _refuse(errno.ESRCH)]  # of a process, not of a group or user
    program += _when(number["getpriority"], [*own, *_one_of(1, (OWN, 0), _refuse(errno.ESRCH))])
    for name in ("clock_gettime", "clock_getres", "clock_nanosleep"):
        low = [(LOAD, 0, 0, ARGUMENTS), (ABOVE, 0, 1, CLOCKS), _refuse(errno.EINVAL), (RETURN, 0, 0, ALLOW)]
        program += _when(number[name], low)
    return program


def _one_of(argument: int, values: tuple[int, ...], otherwise: Instruction) -> list[Instruction]:
    """Instructions that allow a call if an argument has one of these values."""
    tests = [(EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [(LOAD, 0, 0, ARGUMENTS + 8 * argument), *tests, otherwise, (RETURN, 0, 0, ALLOW)]


def _when(call: int, then: list[Instruction]) -> list[Instruction]:
    """Instructions for one system call; they must end with a return."""
    return [(EQUAL, 0, len(then), call), *then]


def _tcp() -> list[Instruction]:
    """TCP over IPv4 and no other protocol: Landlock's port rules do not cover MPTCP, SCTP and the like."""
    allow: Instruction = (RETURN, 0, 0, ALLOW)
    return [
        (LOAD, 0, 0, ARGUMENTS),
        (EQUAL, 1, 0, AF_INET),
        _refuse(),
        (LOAD, 0, 0, ARGUMENTS + 8),
        (AND, 0, 0, 0xF),
        (EQUAL, 1, 0, SOCK_STREAM),
        _refuse(),
        (LOAD, 0, 0, ARGUMENTS + 16),
        (EQUAL, 2, 0, IPPROTO_ANY),
        (EQUAL, 1, 0, IPPROTO_TCP),
        _refuse(),
        allow,
    ]
