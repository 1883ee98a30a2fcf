"""The guard against samples that do harm when nothing stops them, and against ordinary ones that run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.guard import scan
from tests.processes.forked import Ran
from tests.runtime.guard.sampling import SECRET, Listener, Sample, samples

Unguarded = Callable[[str, str], Ran]
HOSTILE, BENIGN = samples("hostile"), samples("benign")
REFUSED_BENIGN = len(BENIGN) // 100
"""How many ordinary samples the guard may refuse: one in a hundred."""


@pytest.mark.table
@pytest.mark.parametrize("sample", HOSTILE, ids=str)
@pytest.mark.parity("term-code-gate")
def test_a_hostile_sample_is_blocked(sample: Sample) -> None:
    assert scan(sample.source()) != []


@pytest.mark.table
@pytest.mark.parametrize("sample", HOSTILE, ids=str)
def test_a_hostile_sample_does_harm_when_nothing_stops_it(
    sample: Sample, canary: Path, listener: Listener, unguarded: Unguarded
) -> None:
    ran = unguarded(sample.source(canary, listener.port), sample.needs)
    harm = {
        "read": SECRET in ran.out,
        "left a mark": any(canary.glob("mark*")),
        "removed": not (canary / "victim").exists() or not (canary / "victims").exists(),
        "tampered": "TAMPERED" in ran.out,
        "reserved": sample.proof == "reserved" and "reserved" in ran.out,
    }
    harmed = any(harm.values()) or listener.called.wait(2)  # the connection may still wait to be accepted
    assert harmed, ran.err[-600:]


def test_hardly_a_benign_sample_is_refused() -> None:
    refused = {str(sample): found for sample in BENIGN if (found := scan(sample.source()))}
    assert len(refused) <= REFUSED_BENIGN, refused


@pytest.mark.table
@pytest.mark.parametrize("sample", BENIGN, ids=str)
def test_a_benign_sample_runs(sample: Sample, canary: Path, unguarded: Unguarded) -> None:
    ran = unguarded(sample.source(canary), sample.needs)
    assert ran.code == 0, ran.err[-600:]
    assert SECRET not in ran.out


def test_there_are_enough_samples_and_none_twice() -> None:
    names = [sample.name for sample in HOSTILE + BENIGN]
    assert len(set(names)) == len(names)
    assert len(HOSTILE) >= 80
    assert len(BENIGN) >= 60
