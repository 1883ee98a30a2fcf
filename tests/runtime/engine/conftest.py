"""Tests of the engine process and of what runs may reach have an engine that was started as users start it."""

import pytest

from runtime.runner import Runner


@pytest.fixture
def runner(started_engine: Runner) -> Runner:
    """What runs flows."""
    return started_engine
