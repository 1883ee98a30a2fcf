"""A seccomp filter that refuses system calls that a run never needs, above all those that start processes.

Written as classic BPF (`include/uapi/linux/seccomp.h`, `filter.h`). A filter cannot be removed, a second one can only
restrict further, and it holds for root as well.
"""

import ctypes
import errno
import functools
import os
import platform
import struct
import sys
from dataclasses import dataclass
from typing import Literal

from lfx_runner.confine.linux import library

Sockets = Literal["none", "tcp", "internet"]

LOAD, EQUAL, ABOVE, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW = 0x7FFF0000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
CLONE_THREAD = 0x00010000
AF_INET, AF_INET6, AF_NETLINK = 2, 10, 16
SOCK_STREAM, SOCK_DGRAM = 1, 2
IPPROTO_ANY, IPPROTO_TCP, IPPROTO_UDP = 0, 6, 17
TCP_ULP = 31
MSG_FASTOPEN = 0x20000000
X32 = 0x40000000
PR_SET_SECCOMP, MODE_FILTER = 22, 2


@dataclass(frozen=True)
class Machine:
    """One architecture: its audit number, and its numbers of the calls that the filter knows."""

    audit: int
    calls: dict[str, int]


# fmt: off
_SHARED = {
    "clone3": 435, "pidfd_getfd": 438, "io_uring_setup": 425, "move_mount": 429, "fsopen": 430, "open_tree": 428,
    "mount_setattr": 442,
}
MACHINES = {
    "x86_64": Machine(0xC000003E, _SHARED | {
        "fork": 57, "vfork": 58, "clone": 56, "execve": 59, "execveat": 322, "ptrace": 101, "process_vm_readv": 310,
        "process_vm_writev": 311, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "setns": 308,
        "unshare": 272, "bpf": 321, "perf_event_open": 298, "keyctl": 250, "add_key": 248, "request_key": 249,
        "userfaultfd": 323, "kexec_load": 246, "init_module": 175, "finit_module": 313, "delete_module": 176,
        "reboot": 169, "swapon": 167, "swapoff": 168, "sethostname": 170, "setdomainname": 171, "acct": 163,
        "settimeofday": 164, "clock_settime": 227, "quotactl": 179, "open_by_handle_at": 304, "socket": 41,
        "setrlimit": 160, "prlimit64": 302, "sendto": 44, "sendmsg": 46, "sendmmsg": 307, "listen": 50,
        "setsockopt": 54,
    }),
    "aarch64": Machine(0xC00000B7, _SHARED | {
        "clone": 220, "execve": 221, "execveat": 281, "ptrace": 117, "process_vm_readv": 270,
        "process_vm_writev": 271, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "setns": 268,
        "unshare": 97, "bpf": 280, "perf_event_open": 241, "keyctl": 219, "add_key": 217, "request_key": 218,
        "userfaultfd": 282, "kexec_load": 104, "init_module": 105, "finit_module": 273, "delete_module": 106,
        "reboot": 142, "swapon": 224, "swapoff": 225, "sethostname": 161, "setdomainname": 162, "acct": 89,
        "settimeofday": 170, "clock_settime": 112, "quotactl": 60, "open_by_handle_at": 265, "socket": 198,
        "setrlimit": 164, "prlimit64": 261, "sendto": 206, "sendmsg": 211, "sendmmsg": 269, "listen": 201,
        "setsockopt": 208,
    }),
}
# fmt: on
_FLAGS = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
"""Calls that send data, and which of their arguments holds the flags."""
_EXAMINED = frozenset({"clone", "clone3", "socket", "setsockopt", "prlimit64", *_FLAGS})


def available() -> bool:
    """Whether the filter supports this system and architecture."""
    return sys.platform == "linux" and platform.machine() in MACHINES


def restrict_calls(sockets: Sockets) -> None:
    """Apply the filter to this process. `no_new_privs` must be set already.

    Args:
        sockets: `none` refuses every new socket (pairs within the process are allowed); `tcp` allows TCP over IPv4;
            `internet` allows TCP and UDP.

    Raises:
        OSError: the kernel refused.
    """
    program, _ = compiled(sockets)
    if library().prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


@functools.cache
def compiled(sockets: Sockets) -> tuple[Program, object]:
    """The filter in the form that the kernel takes, and the memory that it points to; compiled once, before forking."""
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in _program(sockets))
    held = ctypes.create_string_buffer(code, len(code))
    return Program(len(code) // 8, ctypes.addressof(held)), held


Instruction = tuple[int, int, int, int]


def _refuse(code: int = errno.EPERM) -> Instruction:
    return RETURN, 0, 0, 0x00050000 | code


def _program(sockets: Sockets) -> list[Instruction]:
    machine = MACHINES[platform.machine()]
    number = machine.calls
    allow: Instruction = (RETURN, 0, 0, ALLOW)
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, machine.audit),
        _refuse(),
        (LOAD, 0, 0, NUMBER),
        (ABOVE, 0, 1, X32),
        _refuse(errno.ENOSYS),
    ]
    for name, call in sorted(number.items()):
        if name not in _EXAMINED:
            program += [(EQUAL, 0, 1, call), _refuse()]
    # glibc falls back to clone, whose flags a filter can read
    program += [(EQUAL, 0, 1, number["clone3"]), _refuse(errno.ENOSYS)]
    program += _when(number["clone"], [(LOAD, 0, 0, ARGUMENTS), (ANY_BIT, 1, 0, CLONE_THREAD), _refuse(), allow])
    # reading limits is prlimit64 without a new value
    low, high = ARGUMENTS + 16, ARGUMENTS + 20
    reading = [(LOAD, 0, 0, low), (EQUAL, 0, 2, 0), (LOAD, 0, 0, high), (EQUAL, 1, 0, 0), _refuse(), allow]
    program += _when(number["prlimit64"], reading)
    for name, place in _FLAGS.items():
        # TCP Fast Open connects without the connect call that Landlock checks
        flags = [(LOAD, 0, 0, ARGUMENTS + 8 * place), (ANY_BIT, 0, 1, MSG_FASTOPEN), _refuse(), allow]
        program += _when(number[name], flags)
    # an upper-layer protocol may turn a TCP socket into one that Landlock does not check, such as SMC
    upper_layer = [(LOAD, 0, 0, ARGUMENTS + 8), (EQUAL, 0, 3, IPPROTO_TCP), (LOAD, 0, 0, ARGUMENTS + 16)]
    program += _when(number["setsockopt"], [*upper_layer, (EQUAL, 0, 1, TCP_ULP), _refuse(), allow])
    program += _when(number["socket"], {"none": [_refuse()], "tcp": _tcp(), "internet": _internet()}[sockets])
    return [*program, allow]


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


def _internet() -> list[Instruction]:
    allow: Instruction = (RETURN, 0, 0, ALLOW)
    return [
        (LOAD, 0, 0, ARGUMENTS),
        (EQUAL, 3, 0, AF_INET),
        (EQUAL, 2, 0, AF_INET6),
        (EQUAL, 11, 0, AF_NETLINK),  # the C library reads this machine's addresses through it
        _refuse(),
        (LOAD, 0, 0, ARGUMENTS + 8),
        (AND, 0, 0, 0xF),
        (EQUAL, 2, 0, SOCK_STREAM),
        (EQUAL, 1, 0, SOCK_DGRAM),
        _refuse(),
        (LOAD, 0, 0, ARGUMENTS + 16),
        (EQUAL, 3, 0, IPPROTO_ANY),
        (EQUAL, 2, 0, IPPROTO_TCP),
        (EQUAL, 1, 0, IPPROTO_UDP),
        _refuse(),
        allow,
    ]
