"""Landlock: which files, TCP ports, signals and abstract sockets a process and its descendants may use.

The three system calls through ctypes; constants from `include/uapi/linux/landlock.h`. A second ruleset can only
restrict further.
"""

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Generator, Iterable
from pathlib import Path

from lfx_runner.confine.linux import library

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture that Python is built for
VERSION = 1
PATH_BENEATH, NET_PORT = 1, 2

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8
MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV = (1 << bit for bit in range(9, 16))
BIND_TCP, CONNECT_TCP = 1, 2
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1, 2

READ = READ_FILE | READ_DIR
WRITE = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE
FILE_ONLY = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
DEVICES = frozenset({(1, 3), (1, 8), (1, 9)})
"""The character devices that may be opened, by number: `null`, `random` and `urandom`. None can be mapped into memory.

Memory that is mapped from another one, such as `zero`, need not count against any limit of the process.
"""
_ALL_FILES = (1 << 16) - 1
TRUNCATE_SINCE = 3
"""The first version that keeps a process from cutting files short that it may not write."""
TCP_SINCE = 4
"""The first version that knows ports."""
_KNOWN_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}


def abi() -> int:
    """The version of Landlock that the kernel supports; 0 for none."""
    if sys.platform != "linux":
        return 0
    try:
        return max(0, _call(CREATE_RULESET, None, 0, VERSION))
    except (OSError, AttributeError):
        return 0


def restrict_files(readable: Iterable[Path], writable: Iterable[Path]) -> None:
    """Restrict this process to these files and folders, without executing any, and to signals within itself.

    A character device stays closed unless it is one of `DEVICES`.

    Args:
        readable: files and folders that may be read; missing ones are skipped.
        writable: folders with full access except for executing, and devices that may be read and written.

    Raises:
        OSError: the kernel refused; nothing is restricted then.
    """
    version = abi()
    handled = _KNOWN_BY_ABI.get(version, _ALL_FILES)
    scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL if version >= 6 else 0
    with _ruleset(files=handled, scoped=scoped) as ruleset:
        for path in readable:
            _allow_path(ruleset, path, READ & handled)
        for path in writable:
            _allow_path(ruleset, path, (READ | WRITE) & handled)
        enforce(ruleset)


def restrict_tcp(connect: Iterable[int]) -> bool:
    """Refuse binding to TCP ports, and connecting to any port but these; returns whether the kernel supports it.

    Args:
        connect: ports that may be connected to, on any host.
    """
    if abi() < TCP_SINCE:
        return False
    with _ruleset(ports=BIND_TCP | CONNECT_TCP) as ruleset:
        for port in connect:
            _allow_port(ruleset, port)
        enforce(ruleset)
    return True


def enforce(ruleset: int) -> None:
    """Apply a ruleset to this process.

    Raises:
        OSError: the kernel refused; nothing is restricted then.
    """
    _call(RESTRICT_SELF, ruleset, 0)


@contextlib.contextmanager
def _ruleset(*, files: int = 0, ports: int = 0, scoped: int = 0) -> Generator[int]:
    descriptor = _new_ruleset(files=files, ports=ports, scoped=scoped)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _new_ruleset(*, files: int = 0, ports: int = 0, scoped: int = 0) -> int:
    version = abi()
    attributes = struct.pack("=QQQ", files, ports, scoped)
    size = 8 if version < 4 else 16 if version < 6 else 24  # older kernels refuse fields that they do not know
    return _call(CREATE_RULESET, ctypes.create_string_buffer(attributes[:size], size), size, 0)


def _allow_port(ruleset: int, port: int) -> None:
    _add_rule(ruleset, NET_PORT, struct.pack("=QQ", CONNECT_TCP, port))


def _allow_path(ruleset: int, path: Path, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        found = os.fstat(descriptor)
        if stat.S_ISCHR(found.st_mode) and (os.major(found.st_rdev), os.minor(found.st_rdev)) not in DEVICES:
            return
        if not stat.S_ISDIR(found.st_mode):
            access &= FILE_ONLY
        _add_rule(ruleset, PATH_BENEATH, struct.pack("=Qi", access, descriptor))
    finally:
        os.close(descriptor)


def _add_rule(ruleset: int, kind: int, rule: bytes) -> None:
    _call(ADD_RULE, ruleset, kind, ctypes.create_string_buffer(rule, len(rule)), 0)


def _call(number: int, *arguments: object) -> int:
    result = library().syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)
