"""The HTTP API as OpenAPI 3.1, made from the route table and from what each route declares beside it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from pydantic import TypeAdapter
from starlette.routing import Route

from agent.contract.schemas import AsExchanged
from server.access.auth import SIGN_IN_PATH
from server.access.scopes import NEEDS, READS, UNREPEATED
from server.idempotency.check import HEADER as KEY
from server.idempotency.check import REPLAYED
from server.middleware.request_id import HEADER as REQUEST_ID
from server.openapi.attributes import with_attributes
from server.openapi.errors import ErrorReply, has_version, name_of, responses, statuses
from server.openapi.headers import IF_MATCH, headers, parameters, taken
from server.openapi.names import operation_id, tag_of
from server.requests.operation import Operation, declared, functions, is_page

JsonSchema = dict[str, Any]

REF: Final = "#/components/schemas/{model}"
STREAM: Final = "text/event-stream"

_ABOUT: Final = """Every request carries a token, `Authorization: Bearer TOKEN`, but for those without `security` here.
Each `security` names the scope that the token needs. A method that an address does not support is answered with 405,
and an address that does not exist with 404. New keys and new events may be added: ignore those that you do not know."""


class _Schemas:
    """The schemas of all models, in one section of components."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        models: dict[tuple[int, str], Any] = {(id(ErrorReply), "serialization"): ErrorReply}
        for one in operations:
            for reply in (one.reply, one.events, *one.also.values()):
                if reply is not None:
                    models[id(reply), "serialization"] = reply
            if one.body is not None:
                models[id(one.body), "validation"] = one.body
        self._kept = list(models.values())  # ids are theirs as long as they live
        made, shared = TypeAdapter.json_schemas(
            [(key[0], cast("Any", key[1]), TypeAdapter(model)) for key, model in models.items()],
            ref_template=REF,
            schema_generator=AsExchanged,
        )
        self._made = cast("Mapping[tuple[int, str], JsonSchema]", made)
        self.components = {name: with_attributes(one) for name, one in sorted(shared.get("$defs", {}).items())}

    def of(self, model: Any, mode: str) -> JsonSchema:
        """The schema of a model: `serialization` of what clients receive, `validation` of what they send."""
        return self._made[id(model), mode]


def openapi(routes: Iterable[Route], version: str) -> JsonSchema:
    """The description of what routes serve.

    Args:
        routes: the route table.
        version: the version of the API's server.

    Raises:
        LookupError: a route declares nothing.
    """
    every = list(functions(routes))
    known = {(path, method): _declared(path, method, function) for path, method, function in every}
    known = {place: one for place, one in known.items() if one.described}
    table = [(path, method, function) for path, method, function in every if (path, method) in known]
    schemas = _Schemas(known.values())
    paths: dict[str, JsonSchema] = {}
    for path, method, function in table:
        described = _Described(path, method, known[path, method], function, schemas)
        paths.setdefault(described.address, {})[method.lower()] = described.operation()
    return {
        "openapi": "3.1.0",
        "info": {"title": "Wirewright", "version": version, "description": _ABOUT, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in dict.fromkeys(tag_of(path) for path in paths)],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": responses(),
            "parameters": parameters(),
            "headers": headers(),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "`wirewright token` prints the token."}
            },
        },
    }


class _Described:
    """One operation."""

    def __init__(self, path: str, method: str, known: Operation, function: object, schemas: _Schemas) -> None:
        needs = NEEDS[path]
        self.address = re.sub(r"\{(\w+):\w+\}", r"{\1}", path)
        self._path = path
        self._method = method
        self._known = known
        self._schemas = schemas
        self._scope = needs.read if method in READS else needs.change
        self._takes_key = method == "POST" and path not in UNREPEATED
        text = inspect.cleandoc(getattr(function, "__doc__", None) or "")
        self._summary, _, rest = text.partition("\n\n")
        self._rest = rest.partition("Raises:")[0].strip()

    def operation(self) -> JsonSchema:
        """It, as an operation object."""
        known = self._known
        is_list = is_page(known) and not self.address.endswith("}")
        found: JsonSchema = {
            "operationId": operation_id(self._method, self.address, is_list=is_list),
            "tags": [tag_of(self._path)],
            "summary": " ".join(self._summary.split()),
            **({"description": self._rest} if self._rest else {}),
            "parameters": self._parameters(),
        }
        if known.body is not None:
            schema = self._schemas.of(known.body, "validation")
            content = {kind: {"schema": _of_body(kind, schema)} for kind in known.body_types}
            found["requestBody"] = {"required": not known.body_optional, "content": content}
        found["responses"] = self._responses()
        found["security"] = [] if self._is_open else [{"bearer": [self._scope] if self._scope else []}]
        return found

    @property
    def _is_open(self) -> bool:
        return self._scope is None and (self._path != SIGN_IN_PATH or self._method != "DELETE")

    def _parameters(self) -> list[JsonSchema]:
        found: list[JsonSchema] = []
        for name, kind in re.findall(r"\{(\w+)(:\w+)?\}", self._path):
            text = "Slashes in it may be sent as they are." if kind else ""
            schema = {"type": "string", "minLength": 1}
            described = {"description": text} if text else {}
            found.append({"name": name, "in": "path", "required": True, **described, "schema": schema})
        if self._known.query is not None:
            asked = with_attributes(TypeAdapter(self._known.query).json_schema(schema_generator=AsExchanged))
            for name, schema in asked["properties"].items():
                text = schema.pop("description", None)
                schema.pop("title", None)
                if schema.get("anyOf") and {"type": "null"} in schema["anyOf"]:
                    schema = {**schema["anyOf"][0], **{key: schema[key] for key in schema if key != "anyOf"}}
                    schema.pop("default", None)
                described = {"description": text} if text else {}
                found.append({"name": name, "in": "query", **described, "schema": schema})
        names = [REQUEST_ID, *taken(self._known.takes)]
        names += [KEY] if self._takes_key else []
        names += [IF_MATCH] if has_version(self._known) else []
        return found + [{"$ref": f"#/components/parameters/{name}"} for name in names]

    def _responses(self) -> JsonSchema:
        known = self._known
        good = {known.status: known.reply, **known.also}
        found = {str(status): self._response(status, model) for status, model in sorted(good.items())}
        for status in statuses(known, open_to_all=self._is_open, takes_key=self._takes_key, named="{" in self._path):
            found[str(status)] = {"$ref": f"#/components/responses/{name_of(status)}"}
        return found

    def _response(self, status: int, model: Any) -> JsonSchema:
        known = self._known
        names = [REQUEST_ID, *known.headers, *([REPLAYED] if self._takes_key else [])]
        if status == 503:
            names = [REQUEST_ID, "Retry-After"]
        found: JsonSchema = {
            "description": _MEANINGS[status],
            "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
        }
        if model is None:
            return found
        schema = self._schemas.of(model, "serialization")
        content: JsonSchema = {known.media_type: {"schema": _of_reply(known.media_type, schema)}}
        if known.events is not None and status == known.status:
            content[STREAM] = {"schema": _of_reply(STREAM, self._schemas.of(known.events, "serialization"))}
        return {**found, "content": content}


_MEANINGS: Final[Mapping[int, str]] = {
    200: "It was done.",
    201: "It was stored.",
    202: "It was taken, and goes on.",
    204: "It was done; there is nothing to say.",
    303: "Go on to the page.",
    304: "It has not changed since it was sent with this `ETag`.",
    503: "Something does not work.",
}


def _of_reply(media_type: str, schema: JsonSchema) -> JsonSchema:
    """The schema of a reply: of a stream, that of each of its events, whose `data` is an object of the schema."""
    if media_type == STREAM:
        data = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
        return {
            "type": "object",
            "description": "One event of the stream.",
            "properties": {"id": {"type": "string"}, "data": data},
            "required": ["data"],
        }
    return {} if media_type == "*/*" else schema


def _of_body(media_type: str, schema: JsonSchema) -> JsonSchema:
    """The schema of a body: none of what is neither JSON nor a form."""
    return schema if media_type in ("application/json", "multipart/form-data") else {}


def _declared(path: str, method: str, function: object) -> Operation:
    known = declared(function)
    if known is None:
        raise LookupError(f"{method} {path} declares nothing.")
    return known
