"""Forks a process for every request: a child as good as new, without the start of an interpreter for each.

Called as `python -I forking.py SOCKET PID CHILD ARGUMENT...`, where CHILD is a file with `ready(argument, ...)`, called
once, and `main(argument, ...)`, called in every fork. It prints `ready` when it listens, and ends when the process PID
does. For each connection it forks itself; that fork calls the child's `adopt()`, if there is one, sends its id in a
line, and reads requests, a JSON object a line: `arguments`, `folder` to work in, `variables` of the environment,
`stdin`. It answers each with `code`, `out` and `err`, once nobody has the outputs of the request's fork open any more.
The code is what `main` returns, or 0.
"""

import atexit
import gc
import importlib.util
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any


def loaded(path: str) -> ModuleType:
    """The child's module, which is not on the path."""
    spec = importlib.util.spec_from_file_location("child", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(outputs: "list[int]") -> "list[bytes]":
    """What comes through the pipes until they end; they are closed."""
    came = {output: bytearray() for output in outputs}
    with selectors.DefaultSelector() as ready:
        for output in outputs:
            ready.register(output, selectors.EVENT_READ)
        while ready.get_map():
            for key, _ in ready.select():
                part = os.read(key.fd, 65536)
                came[key.fd] += part
                if not part:
                    ready.unregister(key.fd)
                    os.close(key.fd)
    return [bytes(came[output]) for output in outputs]


def collected(pid: int, outputs: "list[int]") -> "dict[str, Any]":
    """What a child said and how it ended; a negative code is a signal."""
    out, err = (part.decode(errors="replace") for part in read(outputs))
    return {"code": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), "out": out, "err": err}


def born(request: "dict[str, Any]", ends: "list[int]") -> None:
    """Make a fork what a process of its own would be: its outputs, its folder, its variables."""
    typed, typing = os.pipe()
    os.write(typing, request["stdin"].encode())  # a pipe holds more than any test types
    os.close(typing)
    for found, wanted in zip((typed, *ends), (0, 1, 2), strict=True):
        os.dup2(found, wanted)
        os.close(found)
    os.chdir(request["folder"])
    os.environ.update(request["variables"])


def serve(answers: int) -> "dict[str, Any] | None":
    """Fork for each request; returns the request in a fork, and None when there are no more."""
    while line := sys.stdin.buffer.raw.readline():  # unbuffered: a fork must find nothing
        request = json.loads(line)
        out, err = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            for end in (answers, out[0], err[0]):
                os.close(end)
            born(request, [out[1], err[1]])
            return request
        os.close(out[1])
        os.close(err[1])
        os.write(answers, json.dumps(collected(pid, [out[0], err[0]])).encode() + b"\n")
    return None


def end(code: int) -> None:
    """End a fork as an interpreter ends, but leave its memory to the system: freeing it would copy it first."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads; there is no public way
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(child: ModuleType, arguments: "list[str]") -> int:
    """The code of a fork's work; exceptions other than leaving with a code end the interpreter as usual."""
    try:
        return child.main(*arguments) or 0
    except SystemExit as leaving:
        if isinstance(leaving.code, int):
            return leaving.code
        raise


def listen(child: ModuleType, address: Path, process: int) -> int:
    """Fork for each connection, which is returned in the fork; end with a process, and remove the address."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a connection's fork ended
    ends = os.pidfd_open(process)
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as ready:
        listener.bind(str(address))
        listener.listen(64)
        for source in (listener, ends):
            ready.register(source, selectors.EVENT_READ)
        os.write(1, b"ready\n")
        while all(key.fileobj is listener for key, _ in ready.select()):
            connection, _ = listener.accept()
            if os.fork() == 0:
                break
            connection.close()
        else:
            shutil.rmtree(address.parent)
            os._exit(0)
    os.close(ends)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    getattr(child, "adopt", int)()
    os.dup2(connection.fileno(), 0)
    connection.sendall(b"%d\n" % os.getpid())
    return connection.detach()


if __name__ == "__main__":
    address, process, path, *arguments = sys.argv[1:]
    child = loaded(path)
    child.ready(*arguments)
    gc.collect()
    loaded(str(Path(__file__).with_name("huge_pages.py"))).collapse()
    given = serve(listen(child, Path(address), int(process)))
    if given is not None:
        end(run(child, given["arguments"]))
