"""`wirewright components trust`: let one source run that the guard refuses."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import CommandError
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from runtime.guard.trust import TrustedSource


def trust(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="A Python file; - reads standard input.")] = None,
    *,
    listed: Annotated[bool, typer.Option("--list", help="List what is trusted.")] = False,
    revoked: Annotated[
        str | None, typer.Option("--revoke", metavar="DIGEST", help="Trust it no longer; its beginning is enough.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let one source run whatever the guard says about it; a change of it must be trusted anew."""
    from runtime.guard.trust import TrustError
    from runtime.guard.trust import revoke as take_back
    from runtime.guard.trust import trusted as every

    if sum((file is not None, listed, revoked is not None)) != 1:
        raise typer.BadParameter("Name a FILE, or give --list or --revoke DIGEST.")
    try:
        if listed:
            _show(every(), as_json=as_json)
        elif revoked is not None:
            _show([take_back(revoked)], as_json=as_json, done="no longer trusted")
        elif file is not None:
            _add(file, as_json=as_json)
    except TrustError as error:
        raise CommandError("trust", error.message, fix=error.fix) from None


def _add(file: str, *, as_json: bool) -> None:
    from cli.flow.source import read
    from runtime.guard import scan
    from runtime.guard.trust import trust as add

    name, text = ("standard input", sys.stdin.read()) if file == "-" else ((found := read(file)).name, found.text)
    violations = scan(text)
    for violation in violations if not as_json else []:
        print_message(f"{name}:{violation.line}: {violation.rule}: {violation.message}")
    _show([add(text, name)], as_json=as_json, done="trusted", violations=[one.to_json() for one in violations])


def _show(
    found: "list[TrustedSource]", *, as_json: bool, done: str = "", violations: list[dict[str, str | int]] | None = None
) -> None:
    if as_json:
        more = {} if violations is None else {"violations": violations}
        name = "revoked" if done == "no longer trusted" else "trusted"
        print_json({"ok": True, name: [one.to_json() for one in found], **more})
        return
    for one in found:
        print_result(f"{one.digest[:16]}  {one.since}  {one.name}{f': {done}' if done else ''}")
    if not found:
        print_message("No source is trusted.")
