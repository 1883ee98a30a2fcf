"""Arguments and options that several `eval` commands share."""

from typing import Annotated, TypeAlias

import typer

Journal: TypeAlias = Annotated[
    str, typer.Argument(metavar="JOURNAL", help="Attempts, as `eval run --out` writes them.")
]
ScenarioIds: TypeAlias = Annotated[
    list[str] | None, typer.Option("--scenario", metavar="ID", help="Only this scenario; may be given several times.")
]
Tags: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="T", help="Only scenarios with this tag; may be given several times."),
]
SplitName: TypeAlias = Annotated[
    str | None, typer.Option("--split", metavar="dev|test", help="Only scenarios of this split.")
]
PackName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--pack", metavar="PACK", help="The scenarios of a pack: a folder, a zip file, or the name of an installed one."
    ),
]
MinPass: TypeAlias = Annotated[
    float,
    typer.Option(
        "--min-pass", metavar="SHARE", min=0.0, max=1.0, help="Exit 1 when a smaller share of the attempts passes."
    ),
]
GateFile: TypeAlias = Annotated[
    str | None, typer.Option("--gate", metavar="FILE", help="Exit 1 when this gate is not passed.")
]
Evaluators: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--evaluator",
        metavar="MODULE:FUNCTION",
        help="An evaluator of your own, or the name of an installed one; may be given several times.",
    ),
]
Required: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="NAME[=LEAST]",
        help="Attempts pass only if this evaluator of your own gives 1, or LEAST; may be given several times.",
    ),
]
JUnit: TypeAlias = Annotated[
    str | None, typer.Option("--junit", metavar="FILE", help="Write the outcome as JUnit XML, too.")
]
VERDICTS = "Write every verdict there, as JSON lines (scores.jsonl)."
"""The help of the options that name a file of verdicts."""
