"""The component types follow their file: a running server knows new bundles without a restart."""

import json
from pathlib import Path

import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from flows.catalogue import CatalogueMissing
from flows.document import JsonObject
from runtime.install.catalogue_file import CatalogueFile
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


def export(path: Path, *names: str) -> None:
    components: JsonObject = {
        name: {"display_name": name, "template": {}, "outputs": [], "category": "c"} for name in names
    }
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps({"format": 1, "lfx": "1", "runner": "x", "components": components}))
    fresh.replace(path)


async def test_the_file_is_read_again_only_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.json"
    file = CatalogueFile(path)
    assert not file.available
    with pytest.raises(CatalogueMissing):
        await file.current()
    export(path, "A")
    first = await file.current()
    assert await file.current() is first
    export(path, "A", "B")
    assert "B" in await file.current()
    assert file.available


async def test_what_was_read_stays_when_the_file_is_gone_or_damaged(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.json"
    export(path, "A")
    file = CatalogueFile(path)
    first = await file.current()
    path.write_text("{")
    assert await file.current() is first
    path.unlink()
    assert await file.current() is first
    export(path, "B")
    assert "B" in await file.current()


async def test_the_assistant_knows_a_new_bundle_without_a_restart(tmp_path: Path) -> None:
    export(tmp_path / "catalogue.json", "A")
    assistant = Assistant(AssistantSettings(cache=tmp_path, data=tmp_path), StandInRunner())
    assert assistant.knows_components
    assert "B" not in await assistant.catalogue()
    export(tmp_path / "catalogue.json", "A", "B")
    assert "B" in await assistant.catalogue()
