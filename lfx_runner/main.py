"""Entry point of the runner process; see `USAGE`."""

import gc
import importlib.util
import os
import platform
import signal
import socket
import sys
from pathlib import Path

COLLECTION = (10_000, 20, 20)
"""How often a run collects garbage: seldom, because most runs are over before it would free anything."""
HERE = Path(__file__).resolve().parent
USAGE = """\
usage: main.py serve FOLDER       fork runs, with their private folders in FOLDER; standard input is a socket
       main.py index FILE DIGEST  write the component catalogue to FILE
       main.py probe FOLDER       print which parts of the confinement this system supports
"""


def become_package() -> None:
    """Make this folder importable as `lfx_runner`, wherever it is installed, without changing `sys.path`."""
    spec = importlib.util.spec_from_file_location(
        "lfx_runner", HERE / "__init__.py", submodule_search_locations=[str(HERE)]
    )
    if spec is None or spec.loader is None:
        raise ImportError("the source of the runner is incomplete")
    package = importlib.util.module_from_spec(spec)
    sys.modules["lfx_runner"] = package
    spec.loader.exec_module(package)


def take_over_socket() -> socket.socket:
    """Keep standard input for the protocol; descriptor 0 then reads nothing, 1 writes to standard error.

    What a library prints can then never be mistaken for a message.
    """
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return control


def serve(folder: str) -> int:
    """Fork a process for each run that the client at the other end of standard input asks for, until it closes it.

    Args:
        folder: where the private folders of runs go.
    """
    from lfx_runner.protocol import PROTOCOL, encode  # importable after become_package

    control = take_over_socket()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if not hasattr(os, "fork"):
        message = "This system cannot fork, but the flow engine runs every flow in a process of its own."
        control.sendall(encode({"type": "failed", "protocol": PROTOCOL, "message": message}))
        return 1
    gc.disable()  # what the imports create is never garbage; collecting takes a sixth of the start
    from lfx_runner.patches import deep_copies, fork_hooks

    fork_hooks.install()
    deep_copies.install()
    from lfx_runner.confine import interpreter, proxy  # imports HTTP clients
    from lfx_runner.confine.linux import gather_memory
    from lfx_runner.confine.numbers import NUMBERS
    from lfx_runner.confine.policy import supported
    from lfx_runner.engine import models_are_warm, warm_up, warm_up_models  # imports lfx, which takes seconds
    from lfx_runner.template import Template

    interpreter.prepare()
    proxy.prepare()
    version = warm_up()
    gc.set_threshold(*COLLECTION)
    gc.enable()
    warm_ups = () if models_are_warm() else (warm_up_models, gather_memory)  # a fork of a warm process is warm
    hello = {
        "type": "hello",
        "protocol": PROTOCOL,
        "lfx": version,
        "pid": os.getpid(),
        "warm_ups": len(warm_ups),
        "calls": NUMBERS.get(platform.machine(), {}),
        **supported(),
    }
    with Template(control, Path(folder), warm_ups=warm_ups) as template:
        control.sendall(encode(hello))
        template.serve()
    return 0


def main(arguments: list[str]) -> int:
    """Run the command that `arguments` name."""
    become_package()
    match arguments:
        case ["serve", folder]:
            return serve(folder)
        case ["index", target, digest]:
            from lfx_runner.introspect.catalogue import export  # imports lfx, which takes seconds

            export(Path(target), digest)
            return 0
        case ["probe", folder]:
            import json

            from lfx_runner.confine.policy import probe

            sys.stdout.write(json.dumps(probe(Path(folder))) + "\n")
            return 0
        case _:
            sys.stderr.write(USAGE)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
