"""The recorded runs of the scenarios' tests; `python -m scripts.recorded_runs` records them again.

The tests that use them are run with an empty folder in their place, on the real engine. They come from the engine
alone, with the scenarios' own rules for models, so no provider's traffic is in them.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.evals.run_cache import RECORD_TO
from tests.recordings.sources import RECORDED, SOURCES, sources_digest

ROOT = Path(__file__).parent.parent
TESTS = (
    "tests/evals/mutate/test_mutate.py",
    "tests/evals/play/test_flow_check.py",
    "tests/evals/players/test_cheats.py",
    "tests/evals/scenarios/test_reference_results.py",
    "tests/evals/test_baseline.py",
)


def main() -> int:
    """Record every run; the recordings change only when the tests pass."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "auto", "--dist", "worksteal", *TESTS]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, RECORD_TO: folder}, check=False)
        if done.returncode:
            return done.returncode
        lines = [json.dumps({SOURCES: sources_digest()})]
        lines += [path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.json"))]
    RECORDED.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines) - 1} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
