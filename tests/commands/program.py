"""Stands for the `wirewright` command, or for Python where that runs a module: has either forked from a process that
has imported what commands import.

`forked.py` writes four lines before these: COMMAND, the real one; SOCKET, where to ask for a fork; CLIENT, the folder
of the module that asks; and KNOWN, the variables that imports have read, with the values that mean the same. Under
others it starts the real command.
"""

import _signal as signal
import os
import sys

sys.path.insert(0, globals()["CLIENT"])
import fork_client  # type: ignore[import-not-found]  # found by its folder

COMMAND: str = globals()["COMMAND"]
SOCKET: str = globals()["SOCKET"]
KNOWN: "dict[str, list[str | None]]" = globals()["KNOWN"]
PREFIXES = ("PYTHON", "LC_", "LANG", "LD_")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGWINCH, signal.SIGUSR1)


def module() -> "str | None":
    """The module that Python is to run; None for the command itself."""
    return sys.argv[2] if sys.argv[0].endswith("/python") and sys.argv[1:2] == ["-m"] else None


def as_known() -> bool:
    """Whether a fork has imported what the command would, and can be given its streams and its folder."""
    for name in {*KNOWN, *(name for name in os.environ if name.startswith(PREFIXES))}:
        if os.environ.get(name) not in KNOWN.get(name, [None]):
            return False
    if sys.argv[0].endswith("/python") and module() is None:
        return False
    try:
        for number in range(3):
            os.fstat(number)
        return bool(os.getcwd())  # noqa: PTH109  (pathlib takes longer to import than this program runs)
    except OSError:  # a stream that is closed, a folder that is gone
        return False


def start() -> None:
    """Start the real command in place of this program."""
    os.execv(COMMAND, [COMMAND, *sys.argv[1:]])  # noqa: S606 - the point of it


def forked(server: object) -> int:
    """Have the command forked, and pass signals on to it until it ends; returns how it ended."""
    ignored = [int(number) for number in SIGNALS if signal.getsignal(number) == signal.SIG_IGN]
    given = {"arguments": sys.argv, "module": module(), "environment": dict(os.environ), "ignored": ignored}
    held = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    fork_client.ask(server, {**given, "folder": os.getcwd()})  # noqa: PTH109  (likewise)
    process = fork_client.answer(server)

    def pass_on(number: int, _: object) -> None:
        try:  # noqa: SIM105  (contextlib takes longer to import, too)
            os.kill(process, number)
        except ProcessLookupError:
            pass  # it ends just now

    for number in SIGNALS:
        if number not in ignored:
            signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, held)
    fork_client.leave_streams()
    code = fork_client.answer(server)
    return 1 if code is None else code


if not as_known():
    start()
try:
    connection = fork_client.connected(SOCKET)
except OSError:  # the run is over
    start()
code = forked(connection)
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
