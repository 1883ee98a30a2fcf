"""The options of `flow run --batch`."""

from pathlib import Path
from typing import Annotated

import typer

BatchFile = Annotated[
    Path | None,
    typer.Option(
        "--batch", metavar="JSONL", readable=False, help='Run once for each line: a JSON string, or {"input_value": …}.'
    ),
]
BatchOut = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="JSONL", readable=False, help="The results of --batch; what is there is gone on with."
    ),
]
Ceiling = Annotated[
    int | None, typer.Option("--ceiling-tokens", min=1, metavar="N", help="How many tokens a batch may use.")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Run again what has failed or was cancelled, too.")]
EstimateOnly = Annotated[
    bool, typer.Option("--estimate", help="Say what a batch is likely to use, by earlier runs, and run nothing.")
]
