"""The machine's pace: figures in milliseconds mean little without it where cores are shared with others."""

import subprocess
import sys
from statistics import median

ROUNDS = 5
CORES = 2
STEPS = 5_000_000
LOOP = f"""
import time
started = time.perf_counter()
for _ in range({STEPS}):
    pass
print(time.perf_counter() - started)
"""


def measure() -> str:
    """Let a plain loop run alone, and two at once, alternately: with two free cores both take the same time."""
    alone: list[float] = []
    together: list[float] = []
    for _ in range(ROUNDS):
        alone += loops(1)
        together += loops(CORES)
    one, several = median(alone), median(together)
    return (
        f"the machine: a plain loop of {STEPS:,} steps takes {one:.2f} s alone (the shortest {min(alone):.2f}) and "
        f"{several:.2f} s when {CORES} run at once (ratio {several / one:.2f}; on {CORES} free cores: 1)"
    )


def loops(number: int) -> list[float]:
    """The seconds that each of several loops takes when they run at once, each in a process of its own."""
    started = [subprocess.Popen([sys.executable, "-I", "-c", LOOP], stdout=subprocess.PIPE) for _ in range(number)]
    return [float(each.communicate()[0]) for each in started]
