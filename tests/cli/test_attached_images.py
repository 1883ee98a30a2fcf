"""An image that is attached on the command line, on the real engine."""

from functools import partial
from pathlib import Path

import pytest

from agent.assistant import Assistant
from tests.cli.conftest import Wirewright
from tests.shared.photos import PNG, REQUEST, SEES, images, looking


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_an_attached_image_is_seen_by_the_model_of_a_flow(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    photo, model = tmp_path / "photo.png", looking()
    photo.write_bytes(PNG)
    monkeypatch.setattr(Assistant, "open", partial(Assistant.open, model=model))
    done = wirewright("ask", REQUEST, "--file", photo, "--json")
    assert done.code == 0, done.err
    assert done.lines[-1]["data"]["run"]["output"] == SEES
    assert [PNG] in [images(request) for request in model.requests]
