"""The checkout that scripts and benchmarks work on, and the environment they run in."""

import os
import re
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent


@contextmanager
def checkout_environment() -> Generator[None]:
    """Use this checkout's flow engine and a temporary data folder, also in the processes that are started meanwhile."""
    os.environ.setdefault("LOGFIRE_IGNORE_NO_CONFIG", "1")
    os.environ.setdefault("WIREWRIGHT_CACHE", str(ROOT / ".cache" / "wirewright"))
    with tempfile.TemporaryDirectory() as data:
        os.environ["WIREWRIGHT_DATA"] = data
        yield


def marked(name: str) -> re.Pattern[str]:
    """Matches a marked part of a Markdown file: from `<!-- NAME -->` to `<!-- /NAME -->`, both in groups."""
    return re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)


def replace_marked(path: Path, name: str, text: str) -> None:
    """Replace what a marked part of a Markdown file holds."""
    page = path.read_text(encoding="utf-8")
    path.write_text(marked(name).sub(lambda found: found[1] + text + found[2], page), encoding="utf-8")
