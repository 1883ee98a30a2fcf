"""The cassettes of a running Langflow, and `python -m scripts.langflow_cassettes URL < key.txt` to record them again.

They are recorded from a real Langflow 1.13 on loopback with a data folder of its own, and hold no key. What Langflow
answers about component types and models is cut to what the scenes need, as the metadata says.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import vcr
import yaml
from vcr.record_mode import RecordMode

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from runtime.install.shipped import shipped_catalogue
from runtime.langflow.changes import new_flow, update_of
from runtime.langflow.client import LangflowServer, opened
from runtime.langflow.connections import Connection
from runtime.langflow.documents import RemoteFlow
from runtime.langflow.errors import LangflowError
from runtime.langflow.exchange import document_of, send, what_is_there
from scripts.cassettes import same_json
from scripts.checkout import ROOT

FOLDER: Final = ROOT / "cassettes" / "langflow"
ADDRESS: Final = "http://127.0.0.1:7869"
"""Where Langflow ran while recording; replays ask the same address, where nothing listens."""
KEY: Final = "sk-recorded-without-a-key"
TYPES: Final = frozenset({"ChatInput", "ChatOutput", "Prompt Template", "LanguageModelComponent"})
"""The component types that are kept of the catalogue."""
MODELS: Final = 2
"""Models that are kept of each provider."""
NAME: Final = "Wirewright recording"
SPEC: Final = f"""name: {NAME}
nodes:
  a: ChatInput
  p: Prompt Template
  o: ChatOutput
edges:
  a.message -> p.text
  p.prompt -> o.input_value
config:
  p.template: "{{text}}!"
"""
_NOBODY: Final = "00000000-0000-4000-8000-000000000000"

Scene = Callable[[LangflowServer], Awaitable[Any]]


def types() -> Catalogue:
    """The component types of the locked engine, as they ship."""
    found = shipped_catalogue(FOLDER)
    if found is None:
        raise RuntimeError("this checkout has bundles of its own")
    return found


def example(ending: str = "!", name: str = NAME) -> Flow:
    """The flow of the scenes: what is typed, followed by a sign; its ids stay the same.

    Args:
        ending: the sign.
        name: the flow's name.
    """
    flow = build(SPEC, types()).flow
    if flow is None:
        raise RuntimeError("the spec of the recorded scenes does not build")
    text = json.dumps(flow.to_json(), ensure_ascii=False).replace('"{text}!"', json.dumps(f"{{text}}{ending}"))
    for node in flow.nodes:
        text = text.replace(node.id, f"{node.type.split()[0]}-aaaaa")
    return Flow({**json.loads(text), "name": name})


async def _added(server: LangflowServer, name: str = NAME) -> RemoteFlow:
    there = await what_is_there(server)
    return await send(server, new_flow(example(name=name), there, types()))


async def _removed(server: LangflowServer, flow: RemoteFlow) -> None:
    """Remove a flow of a scene, which the product never does."""
    response = await server.raw("DELETE", f"/api/v1/flows/{flow.id}")
    response.raise_for_status()


async def _refusal(work: Awaitable[object]) -> LangflowError:
    try:
        await work
    except LangflowError as error:
        return error
    raise RuntimeError("nothing was refused")


async def connect(server: LangflowServer) -> tuple[str, list[str]]:
    """The version, and the names of the projects."""
    version = await server.version()
    return version, [one.name for one in await server.projects()]


async def wrong_key(server: LangflowServer) -> LangflowError:
    """What a key that is not one is answered."""
    return await _refusal(server.check_key())


async def round_trip(server: LangflowServer) -> tuple[RemoteFlow, RemoteFlow, str]:
    """A flow is added, changed by one update, and run; returns it before and after, and the output."""
    added = await _added(server)
    base = document_of(added)
    changed = Flow.from_json(json.loads(json.dumps(base.raw).replace('"{text}!"', '"{text}?"')))
    update = update_of(base, changed, added, await what_is_there(server), types())
    after = await send(server, update)
    answer = await server.run(added.id, "hi")
    await _removed(server, added)
    return added, after, json.dumps(answer.outputs)


async def refusals(server: LangflowServer) -> dict[str, LangflowError]:
    """What Langflow refuses: an outdated change, a name that is taken, a locked flow, and one that is not there."""
    first = await _added(server)
    other = await _added(server, f"{NAME} 2")
    moved: dict[str, Any] = {"data": {**(first.data or {}), "viewport": {"x": 1, "y": 1, "zoom": 1}}}
    second = await server.update(first, moved)
    found = {
        "flow_moved_on": await _refusal(server.update(first, {"data": {"nodes": [], "edges": []}})),
        "name_taken": await _refusal(server.update(other, {"name": NAME})),
    }
    locked = await server.update(second, {"locked": True})
    unlocked = locked.model_copy(update={"locked": False})
    found["flow_locked"] = await _refusal(server.update(unlocked, {"name": "Other"}))
    await _removed(server, first)
    await _removed(server, other)
    found["deleted"] = await _refusal(server.update(other, {"name": "Other"}))
    found["flow_not_there"] = await _refusal(server.flow(_NOBODY))
    found["bad_id"] = await _refusal(server.flow("no id"))
    return found


SCENES: Final[Mapping[str, Scene]] = {
    "connect": connect,
    "wrong_key": wrong_key,
    "round_trip": round_trip,
    "refusals": refusals,
}


def cassettes(record: str = "none") -> Any:
    """The recorder and player of these cassettes.

    Args:
        record: vcrpy's record mode; `none` fails on any request that was not recorded.
    """
    player: Any = vcr.VCR(
        cassette_library_dir=str(FOLDER),
        record_mode=RecordMode(record),
        match_on=["method", "host", "port", "path", "query", "if_match", "json"],
        filter_headers=[("x-api-key", None), "cookie", "set-cookie", "user-agent"],
        before_record_response=_cut,
        decode_compressed_response=True,
    )
    player.register_matcher("json", same_json)
    player.register_matcher("if_match", _same_condition)
    return player


async def played(name: str, key: str = KEY) -> Any:
    """Play a scene; returns what it gives.

    Args:
        name: the scene.
        key: what Langflow takes; a replay needs none.
    """
    async with opened(Connection(name="recorded", url=ADDRESS, key=key)) as server:
        return await SCENES[name](server)


def _same_condition(first: Any, second: Any) -> None:
    if first.headers.get("if-match") != second.headers.get("if-match"):
        raise AssertionError("the conditions differ")


def _cut(response: dict[str, Any]) -> dict[str, Any]:
    """An answer with what the scenes need of it, and without what is about a person."""
    headers = {"content-type": response["headers"].get("content-type", response["headers"].get("Content-Type", []))}
    body: Any
    try:
        body = json.loads(response["body"]["string"])
    except ValueError:
        return {**response, "headers": headers}
    if _is_object(body) and "component_display_names" in body:
        body = {
            category: {name: raw for name, raw in types.items() if name in TYPES}
            for category, types in body.items()
            if category != "component_display_names" and TYPES & types.keys()
        }
    elif not _is_object(body) and body and "num_models" in body[0]:
        names = ("provider", "models", "is_enabled")
        body = [{name: one[name] for name in names} for one in body]
        body = [{**one, "models": [{"model_name": m["model_name"]} for m in one["models"][:MODELS]]} for one in body]
    elif _is_object(body) and "user_id" in body:
        body = {**body, "user_id": _NOBODY}
    return {**response, "headers": headers, "body": {"string": json.dumps(body).encode()}}


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


async def record(name: str, key: str) -> None:
    """Record one cassette, and describe it in its metadata.

    Args:
        name: the scene.
        key: what Langflow takes.
    """
    path = FOLDER / f"{name}.yaml"
    path.unlink(missing_ok=True)
    with cassettes("all").use_cassette(path.name):
        await played(name, "sk-not-a-key-of-it" if name == "wrong_key" else key)
    content: dict[str, Any] = yaml.safe_load(path.read_text())
    metadata = {
        "source": "Langflow 1.13.0 on loopback, with LANGFLOW_AUTO_LOGIN and a data folder of its own",
        "cut": f"/api/v1/all to the types {', '.join(sorted(TYPES))}; /api/v1/models to {MODELS} of each provider",
        "recorded": datetime.now(UTC).date().isoformat(),
    }
    text = yaml.safe_dump({"metadata": metadata, **content}, sort_keys=False, allow_unicode=True, width=120)
    if key in text:
        raise RuntimeError("the cassette holds the key")
    path.write_text(text)


async def _record_all(key: str) -> None:
    for name in SCENES:
        await record(name, key)
        print(f"recorded {name}")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    if sys.argv[1:] != [ADDRESS]:
        sys.exit(f"Serve Langflow at {ADDRESS}, and name it: python -m scripts.langflow_cassettes {ADDRESS} < key.txt")
    asyncio.run(_record_all(sys.stdin.read().strip()))
