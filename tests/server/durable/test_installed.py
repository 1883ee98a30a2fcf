"""Durable turns without the package that carries them out."""

from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from server.app import create_app
from server.durable.installed import DurableNotInstalled
from server.serve import CannotServe, serve
from server.settings import ServerSettings
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
REMEDY = "uv pip install 'wirewright[durable]'"


def _nothing(name: str) -> None:
    """Finds no package."""
    del name


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is not installed."""
    monkeypatch.setattr("server.durable.installed.find_spec", _nothing)


@pytest.mark.usefixtures("absent")
def test_a_server_whose_turns_are_to_be_durable_says_what_to_install() -> None:
    with pytest.raises(CannotServe) as refused:
        serve(ServerSettings(durable=True, port=0))
    assert REMEDY in refused.value.fix
    assert "WIREWRIGHT_DURABLE=0" in refused.value.fix


@pytest.mark.usefixtures("absent")
async def test_an_application_whose_turns_are_to_be_durable_says_what_to_install(catalogue: Catalogue) -> None:
    app = create_app(ServerSettings(durable=True), assistant=assistant(catalogue))
    with pytest.raises(DurableNotInstalled) as refused:
        async with app.router.lifespan_context(app):
            pass
    assert REMEDY in refused.value.fix


def test_with_postgres_turns_are_durable_where_the_package_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = ServerSettings(database="postgresql://localhost/w", data=tmp_path)
    assert settings.is_durable
    monkeypatch.setattr("server.durable.installed.find_spec", _nothing)
    assert not settings.is_durable
    assert not ServerSettings(data=tmp_path).is_durable
