"""Model values: normalising every way to write a model to the form that the engine reads."""

from __future__ import annotations

from flows.fields.model_providers import STORED, split_model, stored_provider
from flows.fields.yaml_text import read_yaml
from flows.json_values import Json, JsonObject, read_json

CONNECTED = "connect_other_models"
"""The value of a model field whose model comes from an edge."""
_PROVIDERS = {
    "gpt-": "OpenAI",
    "o1": "OpenAI",
    "o3": "OpenAI",
    "o4": "OpenAI",
    "chatgpt": "OpenAI",
    "claude": "Anthropic",
    "gemini": "Google Generative AI",
}
LONGEST = 10_000
"""Characters of the longest text that is read as a list of models."""

ASSISTANT = "assistant"
"""A model's name that means the assistant's own model; a field that is left empty means the same."""


def canonical_model(value: Json) -> Json:
    """Return a model value as `[{"provider": …, "name": …}]`.

    Accepts the canonical list, one object, either of them as JSON or YAML text (also quoted or fenced) or nested in
    another's `name`, and a name (`gpt-4o`, `OpenAI/gpt-4o`, `openai:gpt-4o`, `bedrock:…`, with every provider of
    ours). The provider is the one that Langflow knows, where it knows one. An empty value and the marker of a
    connected model are returned unchanged; `assistant` is empty, since an empty field takes the assistant's model.

    Raises:
        ValueError: the value names no model.
    """
    if value is None or value == "" or value == CONNECTED or value == []:
        return "" if value is None else value
    entries = value if isinstance(value, list) else [value]
    models: list[Json] = []
    for entry in entries:
        if isinstance(entry, str) and _structured(entry) is None and entry.strip():
            models.append(_from_name(entry.strip()))
        else:
            models += _entries(entry, depth=0)
    if not models:
        raise ValueError("names no model")
    return "" if all(is_assistant(model) for model in models) else models


def is_assistant(model: Json) -> bool:
    """Whether one model of a canonical value is the assistant's own, as flows of earlier versions store it."""
    return isinstance(model, dict) and model.get("provider") == "Wirewright" and model.get("name") == ASSISTANT


def _entries(entry: Json, depth: int) -> list[Json]:
    if isinstance(entry, str):
        parsed = _structured(entry)
        entry = parsed if parsed is not None else {"name": entry.strip()}
    if isinstance(entry, list):
        return [model for item in entry for model in _entries(item, depth + 1)] if depth < 8 else []
    if not isinstance(entry, dict):
        raise ValueError("is not a model")
    name = entry.get("name") if "name" in entry else entry.get("model", entry.get("model_name"))
    if isinstance(name, str) and depth < 8 and _structured(name) is not None:
        return _entries(name, depth + 1)
    if not isinstance(name, str) or not name.strip():
        raise ValueError("has a model without a name")
    known: JsonObject = {key: item for key, item in entry.items() if key not in {"model", "model_name"}}
    provider = entry.get("provider")
    if isinstance(provider, str) and provider.strip() and provider != "Unknown":
        return [{**known, "provider": _stored(provider), "name": name.strip()}]
    return [{**known, **_from_name(name.strip())}]


def _from_name(name: str) -> JsonObject:
    if name.lower() in {ASSISTANT, f"wirewright:{ASSISTANT}", f"wirewright/{ASSISTANT}"}:
        return {"provider": "Wirewright", "name": ASSISTANT}
    named = split_model(name)
    if named is not None:
        return {"provider": STORED[named[0]], "name": named[1]}
    lowered = name.lower()
    provider = next((provider for start, provider in _PROVIDERS.items() if lowered.startswith(start)), "")
    if not provider:
        raise ValueError(f"does not say whose model {name!r} is")
    return {"provider": provider, "name": name}


def _stored(provider: str) -> str:
    return "Wirewright" if provider.strip().lower() == "wirewright" else stored_provider(provider)


def _unfenced(text: str) -> str:
    """Return the content of a fenced code block, or the text itself."""
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text.partition("\n")[2][:-3].strip()
    return text


def _structured(text: str) -> Json:
    stripped = _unfenced(text.strip())
    looks = stripped.startswith(("{", "[", "- ", '"{', '"[')) or (": " in stripped and "\n" in stripped)
    looks = looks or stripped.startswith(("name: ", "provider: "))
    if not looks or len(stripped) > LONGEST:
        return None
    try:
        parsed: object = read_json(stripped)
    except ValueError:
        try:
            parsed = read_yaml(stripped)
        except ValueError:
            return None
    if isinstance(parsed, str) and parsed != text:
        return _structured(parsed)  # a document as a string in a document
    return parsed if isinstance(parsed, list | dict) else None  # pyright: ignore[reportUnknownVariableType] - parsed JSON
