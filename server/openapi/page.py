"""The description of the API as a page: plain HTML that needs no script and nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

Schema = Mapping[str, Any]

_SCHEMAS: Final = "#/components/schemas/"

_HEAD: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Wirewright: the HTTP API</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 3rem auto; padding: 0 1rem }
article { border-top: 1px solid; margin-top: 2rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0 }
code { overflow-wrap: anywhere }
</style>
"""


def page(document: Schema) -> str:
    """The page.

    Args:
        document: the description of the API, as OpenAPI.
    """
    info = document["info"]
    parts = [
        _HEAD,
        f"<h1>{escape(info['title'])} {escape(info['version'])}: the HTTP API</h1>",
        f"<p>{_text(info['description'])}</p>",
        '<p>The same as OpenAPI 3.1: <a href="/openapi.json">/openapi.json</a>.</p>',
        *_contents(document),
        *(_operation(path, method, one) for path, method, one in _operations(document)),
        "<h2>Schemas</h2>",
        *(_schema(name, one) for name, one in document["components"]["schemas"].items()),
        "</html>\n",
    ]
    return "\n".join(parts)


def _operations(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            yield path, method.upper(), _resolved(one, document)


def _resolved(one: Schema, document: Schema) -> Schema:
    """An operation with the parameters and responses that it refers to."""

    def found(entry: Schema) -> Schema:
        if "$ref" not in entry:
            return entry
        _, _, kind, name = entry["$ref"].split("/")
        return document["components"][kind][name]

    responses = {status: found(reply) for status, reply in one["responses"].items()}
    return {**one, "parameters": [found(each) for each in one["parameters"]], "responses": responses}


def _contents(document: Schema) -> Iterator[str]:
    yield "<nav>"
    for tag in document["tags"]:
        yield f"<h2>{escape(tag['name'])}</h2>\n<ul>"
        for path, method, one in _operations(document):
            if tag["name"] in one["tags"]:
                link = f'<a href="#{escape(one["operationId"])}"><code>{method} {escape(path)}</code></a>'
                yield f"<li>{link} {_text(one['summary'])}</li>"
        yield "</ul>"
    yield "</nav>"


def _operation(path: str, method: str, one: Schema) -> str:
    scopes = [scope for each in one["security"] for scope in each["bearer"]]
    needs = f"Needs the scope <code>{escape(scopes[0])}</code>." if scopes else "Needs no scope."
    parts = [
        f'<article id="{escape(one["operationId"])}">',
        f"<h2><code>{method} {escape(path)}</code></h2>",
        f"<p>{_text(one['summary'])} {needs if one['security'] else 'Needs no token.'}</p>",
        f"<p>{_text(one['description'])}</p>" if "description" in one else "",
        *_table("Parameters", (_parameter(each) for each in one["parameters"])),
    ]
    if body := one.get("requestBody"):
        rows = ((f"<code>{escape(kind)}</code>", _type(each["schema"])) for kind, each in body["content"].items())
        parts += _table("Body" if body["required"] else "Body, which may be left out", rows)
    parts += _table("Responses", (_response(status, each) for status, each in one["responses"].items()))
    return "\n".join([*(part for part in parts if part), "</article>"])


def _parameter(one: Schema) -> tuple[str, ...]:
    needed = ", required" if one.get("required") else ""
    place = f"{one['in']}{needed}"
    return f"<code>{escape(one['name'])}</code>", place, _type(one["schema"]), _text(one.get("description", ""))


def _response(status: str, one: Schema) -> tuple[str, ...]:
    content = [f"<code>{escape(kind)}</code> {_type(each['schema'])}" for kind, each in one.get("content", {}).items()]
    headers = ", ".join(f"<code>{escape(name)}</code>" for name in one.get("headers", {}))
    return f"<code>{status}</code>", _text(one["description"]), "<br>".join(content), headers


def _schema(name: str, one: Schema) -> str:
    required = set(one.get("required", ()))
    rows = (
        (
            f"<code>{escape(key)}</code>{'' if key in required else '?'}",
            _type(each),
            _text(each.get("description", "")),
        )
        for key, each in one.get("properties", {}).items()
    )
    kind = "" if "properties" in one else f"<p>{_type(one)}</p>"
    described = _text(one.get("description", ""))
    parts = [f'<article id="{escape(name)}">', f"<h3>{escape(name)}</h3>", f"<p>{described}</p>", kind]
    return "\n".join([*(part for part in parts if part), *_table("", rows), "</article>"])


def _table(title: str, rows: Iterator[tuple[str, ...]]) -> list[str]:
    """A table of cells that are HTML; nothing if it has no rows."""
    lines = [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows]
    heading = [f"<h3>{title}</h3>"] if title else []
    return [*heading, "<table>", *lines, "</table>"] if lines else []


def _type(schema: Schema) -> str:
    """A type as HTML, with links to the schemas that it names."""
    if "$ref" in schema:
        name = escape(schema["$ref"].removeprefix(_SCHEMAS))
        return f'<a href="#{name}">{name}</a>'
    if "contentSchema" in schema.get("properties", {}).get("data", {}):
        return f"events, each of them {_type(schema['properties']['data']['contentSchema'])}"
    if "const" in schema:
        return f"<code>{escape(repr(schema['const']))}</code>"
    if "enum" in schema:
        return " | ".join(f"<code>{escape(repr(value))}</code>" for value in schema["enum"])
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(_type(choice) for choice in choices))
    match schema.get("type"):
        case "array":
            return f"list of {_type(schema.get('items', {}))}"
        case "object":
            values: Any = schema.get("additionalProperties")
            return "object" if values in (None, True, False, {}) else f"object of {_type(values)}"
        case str() as plain:
            return escape(plain)
        case _:
            return "any"


def _text(text: str) -> str:
    """A text as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(text.split())))
