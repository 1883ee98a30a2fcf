"""`wirewright doctor`: examines this installation, and writes a report of it for a bug."""

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import FAILED, BadUsage
from cli.options import Json
from cli.output.columns import print_lines, print_rows
from cli.output.streams import print_json, print_message

_MARKS = {"works": "ok", "missing": "NO", "optional": "--"}


def doctor(
    *,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", metavar="FILE", help="Also write a report for a bug: no keys, paths or flows."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what works here, what is missing and how to get it; exit 1 when something needed is missing."""
    from cli.doctor import report

    found = report.examine()
    if bundle is not None:
        _write(bundle, report.bundle().model_dump_json(indent=2) + "\n")
    if as_json:
        print_json(found)
    else:
        active = [check for check in found.checks if check.name.startswith("Protection:") and check.status == "works"]
        for check in found.checks:
            if check in active[1:]:
                continue
            if check in active[:1]:
                print_rows([("ok", f"Protections of a run: {len(active)} active; wirewright runner status lists them")])
                continue
            print_rows([(_MARKS[check.status], f"{check.name}: {check.detail}")])
            if check.fix:
                print_lines(f"    -> {check.fix}", hanging=" " * 7)
    if not found.ok:
        raise typer.Exit(FAILED)


def _write(path: Path, text: str) -> None:
    from runtime.files.texts import write_file

    try:
        write_file(path, text.encode(), replace=False)
    except FileExistsError:
        fix = "Name a file that does not exist yet."
        raise BadUsage("file_exists", f"{path} exists already.", fix=fix, where="--bundle") from None
    except OSError:
        fix = "Name a file in a folder that can be written."
        raise BadUsage("not_written", f"{path} cannot be written.", fix=fix, where="--bundle") from None
    print_message(f"Wrote {path}. Read it before you send it.")
