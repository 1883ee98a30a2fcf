"""What only Linux offers: tried in processes of their own, where it cannot harm the tests."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
GATHER = """
from lfx_runner.confine.linux import gather_memory
held = [bytes([n % 256]) * 4099 for n in range(4096)]
gathered = gather_memory()
assert held == [bytes([n % 256]) * 4099 for n in range(4096)]
print(gathered)
"""


def test_gathered_memory_holds_what_it_held_before() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GATHER], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert int(done.stdout) >= 0
