"""Users: nobody reaches what is another's, by any route, stream or tool; scopes, revoked tokens, and sign-ins."""

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx
import pytest
from pydantic_ai import ModelMessage, ToolDefinition
from pydantic_ai.models.function import AgentInfo
from starlette.routing import Route

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.accounts.scopes import SCOPES, Scope, scopes_of
from server.access.auth import HOOKS_FOLDER
from server.access.failed_sign_ins import ALLOWED
from server.access.scopes import NEEDS, READS, checked
from server.app import create_app
from server.middleware.token_check import OPEN_FOLDER, OPEN_PATHS
from server.settings import ServerSettings
from tests.runtime.langflow.stand_in import KEY, StandInLangflow, langflow
from tests.server.live import ASSIST, FLOWS, STREAM, Live, events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
MARK = "only-adas-9c1e"
"""Stands in everything that Ada has."""
SESSION = "session-of-ada"
FILE = "notes-of-ada.txt"
VARIABLE = "KEY_OF_ADA"
CONNECTION = VARIABLE.lower()
"""Her Langflow server; the parameter of its path is called as that of a variable's."""
TURN = "turn-of-ada"
"""Names of Ada's, which somebody else may guess."""


@asynccontextmanager
async def client_of(live: Live, name: str, *scopes: Scope) -> AsyncGenerator[httpx.AsyncClient]:
    """A client with the token of a new user."""
    assert live.access.users is not None
    _, token = await live.access.users.add(name, scopes_of(scopes or ("build", "run")))
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=live.client.base_url, timeout=30, trust_env=False, headers=headers) as made:
        yield made


def routes() -> list[Route]:
    """The route table of the server."""
    found = create_app(ServerSettings()).routes
    assert all(isinstance(route, Route) for route in found)
    return [route for route in found if isinstance(route, Route)]


HERS = {"flow_id", "run_id", "turn_id", "path", "session", "job_id", "batch_id", "schedule_id"}
"""Parameters of paths that name what is one user's alone."""


@dataclass(frozen=True)
class Belongings:
    """What Ada has: a value for each parameter of a path."""

    values: dict[str, str]

    def path(self, route: Route) -> str:
        """The address at which a route has something of Ada's."""
        values = {**self.values, "name": CONNECTION} if route.path.startswith("/api/v1/langflow/") else self.values
        return route.path_format.format(**{name: values[name] for name in route.param_convertors})


@pytest.fixture
def there() -> Generator[StandInLangflow]:
    """A Langflow server that Ada alone has connected."""
    with langflow() as stand_in:
        yield stand_in


async def fill(client: httpx.AsyncClient, echo: JsonObject, there: StandInLangflow | None = None) -> Belongings:
    """Give a user one of everything."""
    stored = await client.post(FLOWS, json={**echo, "name": f"Flow {MARK}", "description": MARK})
    flow_id: str = stored.json()["id"]
    files = {"file": (FILE, f"text {MARK}", "text/plain")}
    (await client.post("/api/v1/files", files=files)).raise_for_status()
    (await client.put(f"/api/v1/variables/{VARIABLE}", json={"value": MARK})).raise_for_status()
    key = {"values": {"OPENAI_API_KEY": f"sk-{MARK}"}}
    (await client.put("/api/v1/providers/openai-chat", json=key)).raise_for_status()
    run = {"input_value": f"input {MARK}", "session_id": SESSION}
    (await client.post(f"{FLOWS}/{flow_id}/run", json=run)).raise_for_status()
    asked = {"input_value": f"Tell me {MARK}", "session_id": SESSION, "flow_id": flow_id, "turn_id": TURN}
    await events(client, **asked)
    inputs = {"inputs": [f"input {MARK}"], "id": "batch-of-ada"}
    batch = (await client.post(f"{FLOWS}/{flow_id}/batch", json=inputs)).raise_for_status()
    with anyio.fail_after(60):
        while not (await client.get("/api/v1/batches/batch-of-ada")).json()["ended"]:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.1)
    daily = {"cron": "0 7 * * *", "input_value": f"input {MARK}"}
    schedule = (await client.post(f"{FLOWS}/{flow_id}/schedules", json=daily)).raise_for_status()
    if there is not None:
        there.add(f"Remote {MARK}", echo["data"])
        connection = {"url": there.url, "api_key": KEY}
        (await client.put(f"/api/v1/langflow/{CONNECTION}", json=connection)).raise_for_status()
        link = {"connection": CONNECTION, "flow": f"Remote {MARK}"}
        (await client.put(f"{FLOWS}/{flow_id}/langflow", json=link)).raise_for_status()
        there.requests.clear()
    runs = (await client.get("/api/v1/runs")).json()["runs"]
    return Belongings(
        {
            "flow_id": flow_id,
            "session": SESSION,
            "chat": SESSION,
            "run_id": runs[0]["id"],
            "turn_id": TURN,
            "path": FILE,
            "name": VARIABLE,
            "type": "TypeOfAda",
            "version": "1",
            "evaluation": "of-ada.jsonl",
            "group": "canvas",
            "user": "nobody",
            "job_id": "batch-of-ada.0",
            "batch_id": batch.json()["id"],
            "schedule_id": schedule.json()["id"],
            "hook_id": schedule.json()["id"],
        }
    )


def model() -> ScriptedModel:
    """Answers Ada's one question."""
    return ScriptedModel("off_topic", f"An answer with {MARK}.", "general_question", f"An answer with {MARK}.")


async def everything(client: httpx.AsyncClient, has: Belongings) -> list[Any]:
    """What a user reads at every route."""
    same = {"X-Request-ID": "reading"}  # stands in errors
    return [
        (await client.get(has.path(route), headers=same)).text
        for route in routes()
        if "GET" in (route.methods or {"GET"})
    ]


async def test_every_route_as_the_wrong_user(catalogue: Catalogue, echo: JsonObject, there: StandInLangflow) -> None:
    async with (
        serving(assistant(catalogue, model(), StandInRunner(results=[ran(f"output {MARK}")]))) as live,
        client_of(live, "ada") as ada,
        client_of(live, "eve", "admin") as eve,
    ):
        has = await fill(ada, echo, there)
        before = [text for text in await everything(ada, has) if MARK in text]
        assert len(before) == 21, "Ada reads what hangs on her flow: versions, link, runs, jobs, turn, and lists"
        there.requests.clear()
        for route in routes():
            path = has.path(route)
            for method in METHODS:
                bodies: tuple[dict[str, Any], ...] = (
                    {},
                    {"flow": echo, "version": 1},
                    {"value": "x"},
                    {"session_id": SESSION},
                )
                for body in bodies if method in (route.methods or METHODS) else bodies[:1]:  # 405 before a body is read
                    reply = await eve.request(method, path, json=body)
                    assert MARK not in reply.text + str(dict(reply.headers)), (method, path, reply.text)
                    of_ada = HERS & set(route.param_convertors)
                    if of_ada and reply.status_code != 405:
                        assert reply.status_code in (404, 415, 422, 428), (method, path, reply.status_code)
                        if method in ("GET", "DELETE"):
                            assert reply.status_code == 404, (method, path, "403 would say that it exists")
        for name in ("", "?q=x"):
            assert MARK not in (await eve.get(f"{FLOWS}{name}")).text
        assert (await eve.get("/api/v1/langflow")).json() == {"connections": []}
        named = {"connection": CONNECTION, "flow": f"Remote {MARK}"}
        own = (await eve.post(FLOWS, json=echo)).json()["id"]
        linked = await eve.put(f"{FLOWS}/{own}/langflow", json=named)
        assert (linked.status_code, linked.json()["error"]["code"]) == (404, "not_connected")
        assert there.requests == [], "nothing was asked of Ada's Langflow server, with her key, for Eve"
        assert [text for text in await everything(ada, has) if MARK in text] == before, "nothing of Ada's has changed"


async def test_the_installations_user_and_others_do_not_see_each_other(catalogue: Catalogue, echo: JsonObject) -> None:
    async with (
        serving(assistant(catalogue, model(), StandInRunner(results=[ran(f"output {MARK}")]))) as live,
        client_of(live, "eve", "admin") as eve,
    ):
        has = await fill(live.client, echo)
        assert not [
            text for text in await everything(eve, has) if MARK in text.replace(SESSION, "") and "error" not in text
        ]
        stored = await eve.post(FLOWS, json=echo)
        assert (await live.client.get(f"{FLOWS}/{stored.json()['id']}")).status_code == 404


@pytest.mark.parametrize("path", [ASSIST, STREAM])
async def test_a_turn_cannot_name_what_is_anothers(path: str, catalogue: Catalogue, echo: JsonObject) -> None:
    async with (
        serving(assistant(catalogue, model(), StandInRunner(results=[ran(f"output {MARK}")]))) as live,
        client_of(live, "ada") as ada,
        client_of(live, "eve") as eve,
    ):
        has = await fill(ada, echo)
        flow = await eve.post(path, json={"input_value": "Explain it", "flow_id": has.values["flow_id"]})
        file = await eve.post(path, json={"input_value": "Read it", "files": [has.values["path"]]})
        approval = {"approvals": {"call-1": {"decision": "approve"}}, "session_id": SESSION, "input_value": ""}
        answered = await eve.post(path, json=approval)
    assert (flow.status_code, flow.json()["error"]["code"]) == (404, "flow_not_found")
    assert (file.status_code, file.json()["error"]["code"]) == (422, "file_not_found")
    assert "nothing_pending" in answered.text or "pending" in answered.text.lower()


def arguments(tool: ToolDefinition, value: str) -> dict[str, Any]:
    """Arguments of a tool in which every text is the same one, as its schema allows."""
    schema = tool.parameters_json_schema
    definitions = schema.get("$defs", {})

    def made(part: dict[str, Any], depth: int = 0) -> Any:
        if "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]]
        if "const" in part or "enum" in part:
            return part.get("const", (part.get("enum") or [None])[0])
        for several in ("anyOf", "oneOf", "allOf"):
            if several in part:
                return made(part[several][0], depth)
        match part.get("type"):
            case "object":
                needed = part.get("required", []) if depth else part.get("properties", {})
                return {name: made(part["properties"][name], depth + 1) for name in needed}
            case "array":
                return [made(part.get("items", {}), depth + 1)]
            case "integer" | "number":
                return 1
            case "boolean":
                return False
            case _:
                return value

    found: dict[str, Any] = made(schema)
    return found


async def test_every_tool_as_the_wrong_user(catalogue: Catalogue, echo: JsonObject) -> None:
    offered: dict[str, ToolDefinition] = {}

    def collect(_: list[ModelMessage], info: AgentInfo) -> str:
        offered.update({tool.name: tool for tool in info.function_tools})
        return "Nothing."

    intents = ("build_flow", "edit_flow", "run_flow", "manage_files", "generate_component", "general_question")
    listing = ScriptedModel(*(step for intent in intents for step in (intent, collect)))
    async with serving(assistant(catalogue, listing, StandInRunner())) as live:
        for number, _ in enumerate(intents):
            await events(live.client, input_value="Do it", flow=echo, session_id=f"list-{number}")
    assert {"read_file", "run_flow"} <= set(offered), sorted(offered)

    def note(messages: list[ModelMessage], _: AgentInfo) -> str:
        seen.append(str(messages[-1]))
        return "Done."

    seen: list[str] = []
    script, runner = (
        ScriptedModel("off_topic", f"An answer with {MARK}."),
        StandInRunner(results=[ran(f"output {MARK}")]),
    )
    async with (
        serving(assistant(catalogue, script, runner)) as live,
        client_of(live, "ada") as ada,
        client_of(live, "eve", "admin") as eve,
    ):
        has = await fill(ada, echo)
        before = await everything(ada, has)
        runner.results[:] = [ran("output of eve")]
        for tool in offered.values():
            for value in (has.values["path"], has.values["flow_id"], has.values["name"], SESSION):
                script.replies[:] = ["manage_files", call(tool.name, 1, **arguments(tool, value)), note, note, note]
                told = json.dumps(await events(eve, input_value="Use it", session_id=SESSION, flow=echo)) + str(seen)
                assert MARK not in told, (tool.name, value)
                seen.clear()
        assert await everything(ada, has) == before


async def test_provider_keys_of_one_user_serve_nobody_else(catalogue: Catalogue) -> None:
    async with (
        serving(assistant(catalogue)) as live,
        client_of(live, "ada") as ada,
        client_of(live, "eve") as eve,
    ):
        key = {"values": {"OPENAI_API_KEY": "sk-adas-own-key-123456"}}
        await ada.put("/api/v1/providers/openai-chat", json=key)
        configured = [
            (await client.get("/api/v1/agentic/check-config")).json()["configured"]
            for client in (ada, eve, live.client)
        ]
        refused = await eve.post(ASSIST, json={"input_value": "Hello", "provider": "openai-chat"})
    assert configured == [True, False, False]
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "provider_not_configured")


@pytest.mark.parametrize("scope", SCOPES)
async def test_each_route_needs_its_scope(scope: Scope, catalogue: Catalogue) -> None:
    held = scopes_of([scope])
    async with serving(assistant(catalogue)) as live, client_of(live, "ada", scope) as ada:
        for route in routes():
            path = route.path_format.format(**dict.fromkeys(route.param_convertors, "x"))
            for method in METHODS:
                needed = NEEDS[route.path].read if method in READS else NEEDS[route.path].change
                reply = await ada.request(method, path, json={})
                refused = reply.status_code == 403 and reply.json()["error"]["code"] == "missing_scope"
                if path != "/sign-in" and reply.status_code != 405:
                    assert refused == (needed is not None and needed not in held), (method, path, reply.text)


def test_a_route_without_scopes_cannot_be_served() -> None:
    async def forgotten(_: object) -> None: ...

    with pytest.raises(LookupError, match="/api/v1/forgotten"):
        checked([Route("/api/v1/forgotten", forgotten)])


def test_every_route_that_needs_no_token_is_open_on_purpose() -> None:
    hook = f"{HOOKS_FOLDER}{{hook_id}}"  # has a token of its own
    opened = {*OPEN_PATHS, f"{OPEN_FOLDER}{{name}}", hook}
    assert {path for path, needs in NEEDS.items() if needs.read is None} == opened
    assert {route.path for route in routes()} == set(NEEDS)


async def test_a_turn_without_the_scope_run_runs_nothing(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(results=[ran("first")])
    script = ScriptedModel("run_flow", call("run_flow", 1, input="hi"), "I could not run it.")
    async with serving(assistant(catalogue, script, runner)) as live, client_of(live, "ada", "build") as ada:
        told = await events(ada, input_value="Run it with hi", flow=echo)
    assert (runner.asked, told[-1]["event"]) == ([], "complete")
    assert "does not have the scope `run`" in script.tool_answers(-1)[0]


async def test_a_revoked_token_and_its_browsers_are_out_at_once(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        users = live.access.users
        assert users is not None
        _, token = await users.add("ada")
        async with httpx.AsyncClient(base_url=live.client.base_url, trust_env=False) as browser:
            signed_in = await browser.post("/sign-in", json={"token": token})
            seen = await browser.get(FLOWS)
            await users.revoke("ada")
            after = await browser.get(FLOWS)
            again = await browser.post("/sign-in", json={"token": token})
        direct = await live.stranger.get(FLOWS, headers={"Authorization": f"Bearer {token}"})
    assert (signed_in.status_code, seen.status_code, after.status_code) == (303, 200, 401)
    assert (again.status_code, again.json()["error"]["code"], direct.status_code) == (403, "token_invalid", 401)
    assert "httponly" in signed_in.headers["set-cookie"].lower()
    assert token not in again.text


async def test_a_browser_signs_in_with_the_installations_token(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        token = live.client.headers["authorization"].removeprefix("Bearer ")
        reply = await live.stranger.post("/sign-in", json={"token": token})
        assert (reply.status_code, (await live.stranger.get(FLOWS)).status_code) == (303, 200)


@pytest.mark.parametrize("body", [{}, {"token": ""}, {"token": 1}, {"token": ["x"]}, {"token": "x" * 5_000}])
async def test_a_sign_in_without_a_token_is_refused(body: dict[str, object], catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.stranger.post("/sign-in", json=body)
    assert reply.status_code in (413, 422)


async def test_an_address_that_guesses_is_told_to_wait_and_the_right_token_still_opens(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        wrong = {"Authorization": "Bearer wrong"}
        statuses = [(await live.stranger.get(FLOWS, headers=wrong)).status_code for _ in range(ALLOWED + 2)]
        late = await live.stranger.post("/sign-in", json={"token": "wrong"})
        right = await live.client.get(FLOWS)
    assert statuses == [*[401] * ALLOWED, 429, 429]
    assert (late.status_code, late.json()["error"]["code"]) == (429, "too_many_failures")
    assert 0 < int(late.headers["retry-after"]) <= 60
    assert right.status_code == 200
