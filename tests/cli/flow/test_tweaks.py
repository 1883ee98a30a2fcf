"""`flow run --tweak`: a node is named by its id, its spec id or its display name; others are refused."""

import json
from pathlib import Path

import pytest

from cli.flow.source import LoadedFlow, Source, built
from cli.flow.tweaks import checked_tweaks, read_tweaks
from flows.catalogue import Catalogue
from flows.edits.compound import rename
from runtime.runner import Runner
from tests.cli.conftest import Wirewright
from tests.shared.flow_texts import LOUDER

TWO_PROMPTS = (
    LOUDER.replace("  answer:", "  second: Prompt Template\n  answer:")
    .replace("edges:\n", "edges:\n  second.prompt -> prompt.more\n")
    .replace("{text}", "{text} {more}")
)


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails a test in which a run begins."""

    async def execute(*_: object) -> None:
        raise AssertionError("the engine was started")

    monkeypatch.setattr(Runner, "execute", execute)


@pytest.mark.parametrize("name", ["prompt", "PROMPT", "Prompt Template", "prompt template", "<id>", "<ID>"])
def test_a_node_is_found_by_every_name_it_has(name: str, catalogue: Catalogue) -> None:
    loaded = built(Source(name="f", text=LOUDER), catalogue)
    (node,) = (node for node, written in loaded.written.items() if written == "prompt")
    name = name.replace("<id>", node).replace("<ID>", node.upper())
    found = checked_tweaks(read_tweaks([f"{name}.Template=Hush = {{text}}"]), loaded, catalogue)
    assert found == {node: {"template": "Hush = {text}"}}


def test_a_renamed_node_is_found_by_its_type(catalogue: Catalogue) -> None:
    loaded = built(Source(name="f", text=LOUDER), catalogue)
    assert loaded.flow is not None
    (node,) = (node for node, written in loaded.written.items() if written == "prompt")
    renamed = LoadedFlow(flow=rename(loaded.flow, node, "Words").flow)
    for name in ("Words", "prompt template"):
        assert checked_tweaks(read_tweaks([f"{name}.template=x"]), renamed, catalogue) == {node: {"template": "x"}}


def test_an_exact_name_comes_before_the_display_name_of_another(catalogue: Catalogue) -> None:
    loaded = built(Source(name="f", text=TWO_PROMPTS), catalogue)
    found = checked_tweaks(read_tweaks(["prompt.template=a", "SECOND.template=b"]), loaded, catalogue)
    assert [loaded.name(node) for node in found] == ["prompt", "second"]


@pytest.mark.parametrize(
    ("spec", "tweak", "message", "fix"),
    [
        (LOUDER, "promt.template=x", "no node 'promt'", "'prompt'"),
        (LOUDER, "zzz.template=x", "no node 'zzz'", "chat, prompt, answer"),
        (TWO_PROMPTS, "prompt template.template=x", "2 nodes are called 'prompt template'", "prompt, second"),
        (LOUDER, "prompt.templat=x", "templat", "template"),
        (LOUDER, "chat.should_store_message=often", "should_store_message", "true"),
        (LOUDER, "answer.sender=Nobody", "sender", "Machine"),
        (LOUDER, "prompt.template", "is not a tweak", "NODE.FIELD=VALUE"),
    ],
)
def test_a_tweak_that_cannot_be_set_is_refused_before_the_engine_starts(
    spec: str, tweak: str, message: str, fix: str, wirewright: Wirewright, excerpt: Path
) -> None:
    done = wirewright("flow", "run", "-", "--tweak", tweak, stdin=spec.encode())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: ")
    assert message in done.err
    assert fix in done.err
    document = wirewright("flow", "run", "-", "--tweak", tweak, "--json", stdin=spec.encode())
    assert document.code == 2
    assert set(document.json) == {"error"}
    assert document.json["error"]["where"] == "--tweak"


def test_a_refused_tweak_speaks_of_nodes_as_the_source_does(
    wirewright: Wirewright, louder_json: Path, excerpt: Path
) -> None:
    ids = [node["id"] for node in json.loads(louder_json.read_bytes())["data"]["nodes"]]
    prompt = next(name for name in ids if name.startswith("Prompt"))
    done = wirewright("flow", "run", louder_json, "--tweak", f"{prompt}.colour=red")
    assert (done.code, prompt in done.err) == (2, True)
    assert (
        "Prompt Template-"
        not in wirewright("flow", "run", "-", "--tweak", "prompt.colour=red", stdin=LOUDER.encode()).err
    )
