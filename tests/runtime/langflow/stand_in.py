"""A stand-in for a Langflow server on loopback, with the component types of the recorded one, and faults on request."""

import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import uvicorn
import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from runtime.web.server import Server
from scripts.langflow_cassettes import FOLDER

KEY = "sk-langflow-0123456789abcdef"
STALL_SECONDS = 3
PROJECT = "9507c59f-e58a-4315-8286-50f7d2693d5f"


def recorded_types() -> dict[str, Any]:
    """What the recorded Langflow answers about its component types."""
    for one in yaml.load((FOLDER / "round_trip.yaml").read_text(), yaml.CSafeLoader)["interactions"]:
        if one["request"]["uri"].endswith("/api/v1/all"):
            return json.loads(one["response"]["body"]["string"])
    raise LookupError("the cassette has no component types")


@dataclass
class StandInLangflow:
    """A Langflow that keeps flows in memory, as the recorded one answers.

    Attributes:
        url: its address.
        flows: the flows by id.
        types: the component types by category.
        variables: values by name.
        models: the models of each provider.
        requests: what was asked for: methods with paths.
        fault: answers everything in place of the server, if set.
        tokens: whether flows have version tokens, as since 1.13.
        stalls: whether it answers late.
    """

    url: str = ""
    flows: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    types: dict[str, Any] = field(default_factory=recorded_types)
    variables: dict[str, str] = field(default_factory=dict[str, str])
    models: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    requests: list[str] = field(default_factory=list[str])
    fault: Response | None = None
    tokens: bool = True
    stalls: bool = False
    version: str = "1.13.0"
    _clock: int = 0

    def changes(self) -> list[str]:
        """The requests that change something."""
        return [one for one in self.requests if not one.startswith("GET")]

    def add(self, name: str, data: object, **more: Any) -> dict[str, Any]:
        """A flow that somebody has made there."""
        flow_id = str(uuid4())
        flow: dict[str, Any] = {"id": flow_id, "name": name, "description": "", "data": data, "locked": False}
        flow |= {"folder_id": PROJECT, "is_component": False, **more}
        self.flows[flow_id] = flow
        return self.touch(flow)

    def touch(self, flow: dict[str, Any], **values: Any) -> dict[str, Any]:
        """A change of a flow that somebody has made there."""
        self._clock += 1
        graph = "data" in values or "version_token" not in flow
        flow |= {**values, "updated_at": f"2026-11-26T05:00:{self._clock:02}+00:00"}
        flow["version_token"] = (str(uuid4()) if graph else flow["version_token"]) if self.tokens else None
        return flow

    async def answer(self, request: Request) -> Response:
        """Answer as Langflow does."""
        path = request.url.path.removeprefix("/api/v1")
        self.requests.append(f"{request.method} {path}")
        if self.stalls:
            await asyncio.sleep(STALL_SECONDS)
        if self.fault is not None:
            return self.fault
        if path == "/version":
            return JSONResponse({"version": self.version, "main_version": self.version, "package": "Langflow"})
        if request.headers.get("x-api-key") != KEY:
            return JSONResponse({"detail": "Invalid API key"}, 403)
        body = json.loads(await request.body() or "null")
        lists: dict[str, Any] = {
            "projects": [{"id": PROJECT, "name": "Starter Project"}],
            "all": {**self.types, "component_display_names": {}},
            "models": self.models,
            "variables": [{"name": name, "value": None} for name in self.variables],
            "flows": [{**one, "data": None} for one in self.flows.values()],
        }
        match request.method, path.strip("/").split("/"):
            case "GET", [name] if name in lists:
                return JSONResponse(lists[name])
            case "POST", ["variables"]:
                self.variables[body["name"]] = body["value"]
                return JSONResponse(body, 201)
            case "POST", ["flows"]:
                return JSONResponse(self.add(**body), 201)
            case "POST", ["run", _]:
                return JSONResponse({"session_id": "s", "outputs": [{"outputs": [_output(body["input_value"])]}]})
            case method, ["flows", flow_id]:
                return self._one(method, flow_id, body, request.headers.get("if-match"))
            case _:
                return JSONResponse({"detail": "Not Found"}, 404)

    def _one(self, method: str, flow_id: str, body: dict[str, Any], condition: str | None) -> Response:
        flow = self.flows.get(str(UUID(flow_id)))
        if flow is None:
            return JSONResponse({"detail": "Flow not found"}, 404)
        if method == "PATCH":
            if flow["locked"]:
                return JSONResponse({"detail": "Flow is locked. Unlock it before making changes."}, 423)
            if condition is not None and condition != flow["version_token"]:
                return JSONResponse({"detail": {"code": "flow_version_conflict", "message": "changed"}}, 409)
            self.touch(flow, **body)
        return JSONResponse(flow)


def _output(text: str) -> dict[str, Any]:
    return {"component_id": "ChatOutput-aaaaa", "results": {"message": {"text": f"{text}!"}}}


@contextmanager
def langflow() -> Generator[StandInLangflow]:
    """A stand-in that serves until the block is left."""
    stand_in = StandInLangflow()
    methods = ["GET", "POST", "PATCH", "DELETE"]
    app = Starlette(routes=[Route("/{path:path}", stand_in.answer, methods=methods)])
    server = Server(uvicorn.Config(app, port=0, log_config=None, lifespan="off"))
    started = threading.Event()

    async def serve() -> None:
        config = server.config
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup()
        stand_in.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        started.set()
        await server.main_loop()
        await server.shutdown()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert started.wait(30)
        yield stand_in
    finally:
        server.stop()
        thread.join()
