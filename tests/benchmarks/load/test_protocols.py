"""The benchmark of translations frames the same events in every way."""

import re

import pytest

from benchmarks.load import protocols
from server.json_response import json_bytes


def test_every_way_frames_all_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocols, "ROUNDS", 2)
    monkeypatch.setattr(protocols, "TURNS", 1)
    lines = [json_bytes(event) for event in protocols.events()]
    assert protocols.own(lines) > sum(map(len, lines))
    assert protocols.agui(lines) > protocols.own(lines) / 2
    assert protocols.aisdk(lines) > protocols.own(lines) / 2
    assert protocols.reading(lines) == len(lines)
    answers = protocols.answers()
    assert protocols.mcp(answers) > protocols.own_answers(answers)
    measured = protocols.measure()
    for name in ("AG-UI", "AI SDK", "MCP"):
        assert re.search(rf"in {name}, -?[\d.]+ beyond", measured)
    assert "(target: at most 4)" in measured
