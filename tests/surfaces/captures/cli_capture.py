"""Runs commands one after the other in one folder and keeps what each prints and how it ends."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from tests.surfaces.normalisation import plain, pretty
from tests.surfaces.subject import Outcome, Workplace, silent_provider

_INSTALLING = re.compile(
    r"^(?:Waiting for another installation|Installing the flow engine|Reading the component catalogue"
    r"|The flow engine is installed|Starting the flow engine\.\.\.).*\n",
    re.MULTILINE,
)
"""What a command says only when the engine is being installed or is not ready yet; left out."""
WAITING_STEP = "preparing_runner"
"""The step of the event that says so."""


@dataclass(frozen=True)
class Case:
    """One command line.

    Attributes:
        name: of its snapshot.
        arguments: what follows `wirewright`.
        stdin: its standard input.
        extra: variables for it alone.
        whole: whether nodes of flows are shown with everything that the catalogue knows.
        interrupted: whether it is interrupted after its first line, while its model does not answer.
        writes: files that it writes, shown too.
    """

    name: str
    arguments: Sequence[str]
    stdin: str = ""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    whole: bool = False
    interrupted: bool = False
    writes: Sequence[str] = ()


def capture_cli(place: Workplace, cases: Sequence[Case], files: Mapping[str, str]) -> dict[str, str]:
    """What every command prints, and its exit code, by the name of its snapshot.

    Args:
        place: where they run.
        cases: the commands, in order; later ones may read what earlier ones wrote.
        files: what is in the working folder at first.
    """
    for name, text in files.items():
        path = place.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return {f"{case.name}.txt": _transcript(place, case) for case in cases}


def _transcript(place: Workplace, case: Case) -> str:
    with silent_provider() if case.interrupted else nullcontext({}) as silent:
        extra = {**case.extra, **silent}
        done = place.run(case.arguments, stdin=case.stdin, extra=extra, interrupted=case.interrupted)
    parts = [f"$ wirewright {' '.join(_quoted(argument) for argument in case.arguments)}"]
    parts += [f"{name}={value}" for name, value in case.extra.items()]
    if case.stdin:
        parts += ["--- stdin", plain(case.stdin, place.places).rstrip("\n")]
    parts += [f"--- exit {done.code}", *_streams(done, place, whole=case.whole)]
    for name in case.writes:
        path = place.work / name
        parts.append(f"--- {name}")
        parts.append(shown(path.read_text(encoding="utf-8"), place.places) if path.exists() else "(no such file)")
    return "\n".join(parts) + "\n"


def _streams(done: Outcome, place: Workplace, *, whole: bool) -> list[str]:
    parts: list[str] = []
    for name, printed in (("stdout", done.out), ("stderr", done.err)):
        text = _INSTALLING.sub("", printed)
        if text:
            parts += [f"--- {name}", shown(text, place.places, whole=whole)]
        if text and not text.endswith("\n"):
            parts.append("(no line end)")
    return parts


def shown(text: str, places: Mapping[str, str], *, whole: bool = False) -> str:
    """A text, normalised; one in which every line is a JSON document is printed document by document.

    Args:
        text: what was printed or written.
        places: paths of this machine, with what stands for each.
        whole: whether nodes of flows are shown with everything that the catalogue knows.
    """
    documents = _documents(text)
    if documents is None:
        return plain(text, places).removesuffix("\n")
    # one list keeps the numbers of random ids the same in all lines
    kept = [one for one in documents if not (isinstance(one, dict) and one.get("step") == WAITING_STEP)]
    listed: list[object] = json.loads(pretty(kept, places, whole=whole))
    return "\n".join(json.dumps(one, ensure_ascii=False, indent=1) for one in listed)


def _documents(text: str) -> list[object] | None:
    """The JSON documents of a text, one a line or a single one over several lines."""
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        pass
    try:
        return [json.loads(text)]
    except ValueError:
        return None


def _quoted(argument: str) -> str:
    return json.dumps(argument, ensure_ascii=False) if not argument or " " in argument or "\n" in argument else argument
