"""The recorded runs of the scenarios' tests; `python -m scripts.recorded_runs` records them again.

The tests that use them are run with an empty folder in their place, on the real engine. They come from the engine
alone, with the scenarios' own rules for models, so no provider's traffic is in them.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ("tests/evals/scenarios/test_reference_results.py", "tests/evals/test_baseline.py")
RECORDED = ROOT / "cassettes" / "runs.jsonl"
RECORD_TO = "WIREWRIGHT_RECORD_RUNS"


def main() -> int:
    """Record every run; the recordings change only when the tests pass."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "auto", "--dist", "worksteal", *TESTS]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, RECORD_TO: folder}, check=False)
        if done.returncode:
            return done.returncode
        lines = [path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.json"))]
    RECORDED.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
