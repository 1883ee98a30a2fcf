"""Entry of the runner process: `main.py serve FOLDER [SPARES [PORT...]]` runs flows, `main.py index FILE DIGEST`
exports them."""

import gc
import importlib.util
import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def become_package() -> None:
    """Make this folder importable as `lfx_runner`, wherever it was installed and without touching `sys.path`."""
    spec = importlib.util.spec_from_file_location(
        "lfx_runner", HERE / "__init__.py", submodule_search_locations=[str(HERE)]
    )
    if spec is None or spec.loader is None:
        raise ImportError("the runner's own source is incomplete")
    package = importlib.util.module_from_spec(spec)
    sys.modules["lfx_runner"] = package
    spec.loader.exec_module(package)


def take_over_pipes() -> tuple[int, int]:
    """Keep standard input and output for the protocol and point 0 at nothing and 1 at standard error.

    Whatever a library prints can then never be taken for a message.
    """
    commands, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return commands, replies


def serve(folder: str, spares: int, closed: frozenset[int]) -> int:
    """Speak the protocol until standard input ends; `spares` processes are kept ready for runs to come.

    `closed` are the ports that open runs will be told to close.
    """
    from lfx_runner.protocol import PROTOCOL, encode, write_all  # a package only after become_package

    commands, replies = take_over_pipes()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if not hasattr(os, "fork"):
        message = "This system cannot fork, which the flow engine needs to give every run a process of its own."
        write_all(replies, encode({"type": "failed", "protocol": PROTOCOL, "message": message}))
        return 1
    gc.disable()  # what the imports make stays: looking for garbage in it takes a sixth of the start
    from lfx_runner.confine import interpreter
    from lfx_runner.confine.linux import gather_memory
    from lfx_runner.engine import warm_more, warm_up  # imports lfx, which takes seconds
    from lfx_runner.template import Zygote

    interpreter.prepare()
    version = warm_up()
    gc.enable()
    with Zygote(commands, replies, Path(folder), spares, closed, more=(warm_more, gather_memory)) as zygote:
        write_all(replies, encode({"type": "hello", "protocol": PROTOCOL, "lfx": version, "pid": os.getpid()}))
        zygote.serve()
    return 0


def main(arguments: list[str]) -> int:
    """Run the command that `arguments` name."""
    become_package()
    match arguments:
        case ["serve", folder, *rest]:
            return serve(folder, max(1, int(rest[0])) if rest else 1, frozenset(map(int, rest[1:])))
        case ["index", target, digest]:
            from lfx_runner.introspect.catalogue import export  # imports lfx, which takes seconds

            export(Path(target), digest)
            return 0
        case _:
            sys.stderr.write("usage: main.py serve FOLDER [SPARES [PORT...]] | index FILE DIGEST\n")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
