"""`wirewright components trust`: let one source run that the guard refuses."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import CommandError
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from cli.documents.components import ViolationObject
    from runtime.guard.trust import TrustedSource


def trust(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="A Python file; - reads standard input.")] = None,
    *,
    listed: Annotated[bool, typer.Option("--list", help="List what is trusted.")] = False,
    revoked: Annotated[
        str | None, typer.Option("--revoke", metavar="DIGEST", help="Trust it no longer; its beginning is enough.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let one source run whatever the guard says about it; a changed one must be trusted again."""
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
    from cli.documents.components import ViolationObject
    from cli.input.texts import read
    from runtime.guard import scan
    from runtime.guard.trust import trust as add

    source = read(file)
    violations = scan(source.text)
    for violation in violations if not as_json else []:
        print_message(f"{source.name}:{violation.line}: {violation.rule}: {violation.message}")
    shown = [ViolationObject(rule=one.rule, line=one.line, message=one.message, fix=one.fix) for one in violations]
    _show([add(source.text, source.name)], as_json=as_json, done="trusted", violations=shown)


def _show(
    found: "list[TrustedSource]",
    *,
    as_json: bool,
    done: str = "",
    violations: "list[ViolationObject] | None" = None,
) -> None:
    if as_json:
        from cli.documents.components import Trusted, TrustedObject, Untrusted

        shown = [TrustedObject(digest=one.digest, name=one.name, since=one.since) for one in found]
        if done == "no longer trusted":
            print_json(Untrusted(ok=True, revoked=shown))
        elif violations is None:
            print_json(Trusted(ok=True, trusted=shown))
        else:
            print_json(Trusted(ok=True, trusted=shown, violations=violations))
        return
    for one in found:
        print_result(f"{one.digest[:16]}  {one.since}  {one.name}{f': {done}' if done else ''}")
    if not found:
        print_message("No source is trusted.")
