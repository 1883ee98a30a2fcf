"""Faults for people: one line each, errors first, with the place and the fix."""

from collections.abc import Iterable, Sequence

from cli.output.streams import print_prose
from flows.faults import Fault


def has_errors(faults: Iterable[Fault]) -> bool:
    """Whether one of the faults is an error."""
    return any(fault.is_error for fault in faults)


def faults_json(faults: Iterable[Fault]) -> list[object]:
    """Faults as a JSON list."""
    return [fault.to_json() for fault in faults]


def lines(faults: Sequence[Fault]) -> list[str]:
    """Faults as lines, errors before warnings, otherwise in the order found."""
    return [_line(fault) for fault in sorted(faults, key=lambda fault: not fault.is_error)]


def note_faults(faults: Sequence[Fault]) -> None:
    """Write the faults on standard error; at a terminal their words stay whole."""
    for line in lines(faults):
        print_prose(line)


def count_in_words(faults: Sequence[Fault]) -> str:
    """How many errors and warnings there are, in words."""
    errors = sum(fault.is_error for fault in faults)
    parts = [_number(errors, "error"), _number(len(faults) - errors, "warning")]
    return " and ".join(part for part in parts if part) or "no faults"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}" if count else ""


def _line(fault: Fault) -> str:
    place = ".".join(part for part in (fault.node, fault.port or fault.field) if part)
    known = not place or place in fault.message
    where = ", ".join(part for part in (f"line {fault.line}" if fault.line else "", "" if known else place) if part)
    advice = f" {fault.fix}" if fault.fix else ""
    return f"{fault.severity}: {f'{where}: ' if where else ''}{fault.message}{advice} [{fault.code}]"
