"""`wirewright ask` when a bundle is missing: it is asked about in words, and `--yes` never installs it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.assistant import Assistant
from agent.models.scripted import call
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from tests.cli.conftest import Wirewright
from tests.shared.scripted_assistant import ScriptedModel, Step
from tests.shared.shelf import AWAY, SPEC, Shelf, index_of, shelf_of
from tests.shared.stand_ins import StandInRunner

BUILD = call("build_flow", 1, spec=SPEC)

Model = Callable[..., Shelf]


@pytest.fixture
def shelf(catalogue: Catalogue, runner: StandInRunner, monkeypatch: pytest.MonkeyPatch) -> Model:
    """Gives the next commands a model that follows a script, and an engine without the bundle `shelf`."""

    def script(*replies: Step) -> Shelf:
        engine, model = shelf_of(catalogue), ScriptedModel(*replies)

        @asynccontextmanager
        async def opened(settings: AssistantSettings) -> AsyncGenerator[Assistant]:
            assistant = Assistant(settings, engine, catalogue=catalogue, model=model, bundles=index_of(catalogue))
            try:
                yield assistant
            finally:
                await assistant.aclose()

        monkeypatch.setattr(Assistant, "open", opened)
        return engine

    return script


@pytest.mark.parametrize("options", [[], ["--yes"]])
def test_nothing_is_installed_before_the_user_agrees_in_words(
    wirewright: Wirewright, shelf: Model, options: list[str], tmp_path: Path
) -> None:
    engine = shelf("build_flow", BUILD, "It shouts.")
    asked = wirewright("ask", "Shout what I write", "--session", "s", *options)
    assert asked.code == 3
    assert "shelf" in asked.out + asked.err
    assert "7 MB" in asked.out + asked.err
    assert engine.installed == []
    target = tmp_path / "loud.json"
    done = wirewright("ask", "ja, mach", "--session", "s", "--out", target, "--json")
    assert (done.code, engine.installed) == (0, [["lfx-shelf"]])
    assert done.lines[-1]["data"]["record"]["installs"] == [{"bundle": "shelf", "status": "installed"}]
    assert AWAY in target.read_text(encoding="utf-8")


def test_nothing_is_installed_when_the_user_says_no(wirewright: Wirewright, shelf: Model) -> None:
    engine = shelf("build_flow", BUILD, "Then not.")
    assert wirewright("ask", "Shout what I write", "--session", "s").code == 3
    done = wirewright("ask", "no", "--session", "s", "--yes", "--json")
    assert (done.code, engine.installed) == (0, [])
    assert done.lines[-1]["data"]["record"]["installs"] == [{"bundle": "shelf", "status": "denied"}]


@pytest.mark.parametrize(("reply", "installed"), [("y", [["lfx-shelf"]]), ("n", [])])
def test_a_chat_that_approves_everything_asks_before_it_installs(
    wirewright: Wirewright, shelf: Model, reply: str, installed: list[list[str]]
) -> None:
    engine = shelf("build_flow", BUILD, "It is as you said.")
    done = wirewright("chat", "--yes", stdin=f"Shout what I write\n{reply}\n".encode())
    assert done.code == 0, done.err
    assert "May I install" in done.out + done.err
    assert engine.installed == installed
