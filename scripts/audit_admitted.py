"""Calls what components may use without any check, and tells what of it imports, executes, opens files or connects.

    .venv/bin/python scripts/audit_admitted.py [--python PYTHON] [MODULE ...]
    .venv/bin/python scripts/audit_admitted.py --record

Each callable is called in a forked child of PYTHON with harmless arguments, once to warm up and once under an audit
hook: what a first call imports is no event. Prints one line `module.name: events` for each that raises an event,
and `module: missing` for what cannot be imported there.
`tests/runtime/guard/admitted_events.yaml` is what is known; `--python` takes the engine's own Python, for the libraries
that are there only. `--record` keeps what these do in `tests/runtime/guard/admitted_audit.json`, which tests take
until this script, the rules or the engine's locked packages change.
"""

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).parent.parent
RECORDED = _ROOT / "tests" / "runtime" / "guard" / "admitted_audit.json"
"""What the libraries of the engine did, by the digest of what decides it."""

LOCK = _ROOT / "lfx_runner" / "uv.lock"
"""The packages of the engine."""

LIBRARIES = (
    (
        "httpx",
        "requests",
        "pydantic",
        "bs4",
        "yaml",
        "jwt",
        "regex",
        "orjson",
        "lxml",
        "openpyxl",
        "tenacity",
        "dateutil",
    ),
    ("numpy", "pandas"),
    ("langchain", "langchain_core", "langchain_classic", "langchain_text_splitters", "langchain_openai"),
    ("lfx", "lfx_openai"),
)
"""Packages of the engine's environment of which everything that is listed is called there, together in one process."""

_CHILD = """
import contextlib, importlib, json, os, signal, sys, tempfile
WATCHED = ("exec", "compile", "open", "import", "socket.", "subprocess.", "os.system", "os.exec", "os.fork",
           "os.posix_spawn", "ctypes.", "os.remove", "os.rename", "os.mkdir", "shutil.", "sqlite3.connect", "urllib.")
SHARP = tuple(event for event in WATCHED if "." in event)
SAMPLES = [(), ("a",), (b"a",), (1,), (1.5,), (["a"],), ({"a": "b"},), ("a", "b"), (1, 2), ("a", ["b"]), (str, ["a"]),
           ([{"a": 1}],), (None,)]
def events(thing):
    seen, watching = set(), [False]
    def hook(event, args):
        if event.startswith(WATCHED if watching[0] else SHARP):
            seen.add(event)
    sys.addaudithook(hook)
    for given in SAMPLES:
        for watched in (False, True):
            watching[0] = watched
            with contextlib.suppress(BaseException):
                thing(*given)
            watching[0] = False
    return sorted(seen)
os.chdir(tempfile.mkdtemp())
out, plan = os.fdopen(os.dup(1), "w"), json.load(sys.stdin)
nothing = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(nothing, number)
if any(module.partition(".")[0] in ("numpy", "pandas") for module in plan):
    import numpy, pandas
    SAMPLES += [(numpy.arange(4.0),), (numpy.eye(2), 1), (pandas.DataFrame({"a": [1, 2]}),)]
    SAMPLES += [(pandas.Series(["a", "b"]), "a")]
if any(module.partition(".")[0].startswith(("langchain", "lfx")) for module in plan):
    from langchain_core.documents import Document
    from langchain_core.messages import HumanMessage
    SAMPLES += [(Document(page_content="a"),), ([HumanMessage(content="a")],), (HumanMessage(content="a"),)]
if any(module.partition(".")[0] == "lfx" for module in plan):
    from lfx.schema import Data, DataFrame, Message
    SAMPLES += [(Data(data={"a": 1}),), ([Data(text="a")],), (Message(text="a"),), (DataFrame([{"a": 1}]),)]
for module, names in plan.items():
    try:
        found = importlib.import_module(module)
    except Exception:
        out.write(json.dumps([module, ["missing"]]) + "\\n")
        continue
    for name in names:
        thing = getattr(found, name, None)
        if not callable(thing):
            continue
        here, there = os.pipe()
        if not (child := os.fork()):
            os.setsid()
            signal.alarm(3)
            os.write(there, json.dumps(events(thing)).encode())
            os._exit(0)
        os.close(there)
        with os.fdopen(here, "rb") as told:
            text = told.read()
        os.waitpid(child, 0)
        if (said := json.loads(text) if text else []):
            out.write(json.dumps([f"{module}.{name}", said]) + "\\n")
            out.flush()
"""
NEVER = frozenset({"builtins.input", "logging.captureWarnings"})
"""What waits for a person, or takes the output."""


def audit(python: str, modules: Iterable[str] = ()) -> dict[str, list[str]]:
    """The events that each listed callable raises that nothing checks; only those that raise any.

    Args:
        python: the Python in which they are called; modules that it does not have are told as `missing`.
        modules: which modules; all listed ones when there are none.
    """
    plan = _plan(modules)
    done = subprocess.run(
        [python, "-B", "-c", _CHILD], input=json.dumps(plan), capture_output=True, text=True, timeout=3600, check=False
    )
    rows: list[tuple[str, list[str]]] = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(rows)


def _plan(modules: Iterable[str]) -> dict[str, list[str]]:
    """What is called of each module."""
    from runtime.guard.ruleset import rules

    wanted = set(modules)
    return {
        module: [name for name, check in names.items() if not check and f"{module}.{name}" not in NEVER]
        for module, names in rules().modules.items()
        if "(" not in module and (not wanted or module in wanted)
    }


def listed_of(packages: Iterable[str]) -> list[str]:
    """The listed modules of some packages."""
    from runtime.guard.ruleset import rules

    return [name for name in rules().modules if name.partition(".")[0] in packages]


def audit_digest(modules: Iterable[str], lock: Path = LOCK) -> str:
    """The digest of what decides an audit: the calls, what is called, the locked packages and the version of Python."""
    digest = hashlib.sha256(lock.read_bytes())
    digest.update(json.dumps([_CHILD, _plan(modules), sys.version_info[:2]]).encode())
    return digest.hexdigest()[:32]


def recorded_audit(modules: Iterable[str]) -> dict[str, list[str]] | None:
    """What listed callables of the engine's libraries did; None when what decides it has changed since."""
    found: dict[str, dict[str, list[str]]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found.get(audit_digest(modules))


def record() -> None:
    """Audit the libraries of the engine, and keep what they did."""
    from runtime.install.environment import RunnerEnvironment

    python = str(RunnerEnvironment.locate().python)
    groups = [listed_of(packages) for packages in LIBRARIES]
    found = {audit_digest(modules): audit(python, modules) for modules in groups}
    RECORDED.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Print the callables that raise events."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--python", default=sys.executable, help="the Python in which they are called")
    reader.add_argument("modules", nargs="*", metavar="MODULE", help="modules; all listed ones when there are none")
    reader.add_argument("--record", action="store_true", help="keep what the libraries of the engine do")
    given = reader.parse_args()
    if given.record:
        record()
        return
    for name, said in sorted(audit(given.python, given.modules).items()):
        sys.stdout.write(f"{name}: {' '.join(said)}\n")


if __name__ == "__main__":
    sys.path.insert(0, str(_ROOT))
    main()
