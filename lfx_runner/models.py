"""Model calls of a run: lfx's OpenAI clients call the gateway and nothing else.

`prepare` patches lfx and warms up once, before processes are forked; `use_gateway` sets the gateway of a forked run.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import langchain_openai
from langchain_openai.chat_models.base import BaseChatOpenAI
from lfx.base.models import model_utils, provider_ssrf
from lfx.base.models.unified_models import instantiation
from lfx.graph.flow_builder import builder
from lfx.utils import util

from lfx_runner.component_classes import precompile, precompiled_unused
from lfx_runner.execute import run_flow

WARM_UP = """name: Models
nodes:
  I: ChatInput
  M: LanguageModelComponent
  A: Agent
  C: CalculatorComponent
  O: ChatOutput
edges:
  I.message -> M.input_value
  M.text_output -> A.input_value
  C.component_as_tool -> A.tools
  A.response -> O.input_value
config:
  I.should_store_message: false
  O.should_store_message: false
"""
REPLY = "warm"
VECTOR = {"object": "embedding", "index": 0, "embedding": [0.0]}

_gateway = ""
"""The gateway's base URL in a run that has one."""
_request: dict[str, Any] = {}
_transport: httpx.MockTransport | None = None
"""Answers in place of the network during the warm-up."""

_transform_localhost_url = util.transform_localhost_url
_protect_model_connection = instantiation._protect_model_connection
_openai_compatible_client_kwargs = provider_ssrf.openai_compatible_client_kwargs
_use_responses_api = BaseChatOpenAI._use_responses_api


def prepare() -> None:
    """Patch what keeps lfx from the gateway, and use a client of each kind so that a run need not import them."""
    for module in (util, model_utils):
        module.transform_localhost_url = _localhost_url
    instantiation._protect_model_connection = _protect_connection
    provider_ssrf.openai_compatible_client_kwargs = _client_kwargs
    # The gateway speaks Chat Completions, whatever the client infers from the name of a model.
    BaseChatOpenAI._use_responses_api = lambda *args: not _gateway and _use_responses_api(*args)
    # Send texts, not token numbers of a tokenizer that would have to be downloaded first.
    langchain_openai.OpenAIEmbeddings.model_fields["check_embedding_ctx_length"].default = False
    langchain_openai.OpenAIEmbeddings.model_rebuild(force=True)
    _warm_up()


def _warm_up() -> None:
    """Import, build and compile what a first call of each kind needs, with canned replies."""
    import anyio._backends._asyncio  # noqa: F401 - httpx imports it when it first connects

    data = builder.build_flow_from_spec(WARM_UP)["flow"]["data"]
    for node in data["nodes"]:
        template = node["data"]["node"]["template"]
        if "model" in template:
            template["model"]["value"] = [{"provider": "OpenAI", "name": "none", "metadata": {}}]
            template["api_key"].update(value="sk-none.0", load_from_db=False)
    _request.update(flow=data, text="warm")
    precompile(data["nodes"])
    with _canned_replies():
        client = langchain_openai.OpenAIEmbeddings(model="none", api_key="none", base_url=_gateway, **_clients())
        client.embed_query("warm")
    if not rehearse():
        raise RuntimeError("the warm-up of models did not work")


def rehearse() -> bool:
    """Run a model and an agent with canned replies and without a network; returns whether they gave them back."""
    with _canned_replies(), precompiled_unused():
        return run_flow(_request)["output"] == REPLY


@contextmanager
def _canned_replies() -> Iterator[None]:
    """Answer model calls with canned replies meanwhile."""
    global _transport
    _transport = httpx.MockTransport(_reply)
    use_gateway("http://127.0.0.1:9/v1")
    try:
        yield
    finally:
        _transport = None
        use_gateway("")


def _reply(request: httpx.Request) -> httpx.Response:
    """The canned reply, in the form that the request asks for."""
    body = json.loads(request.content)
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "warm", "created": 0, "model": "none"}
    if "input" in body:
        return httpx.Response(200, json={**head, "object": "list", "data": [VECTOR], "usage": usage})
    message = {"role": "assistant", "content": REPLY}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return httpx.Response(200, json={**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    choice = {"index": 0, "delta": message, "finish_reason": "stop"}
    chunk = {**head, "object": "chat.completion.chunk", "choices": [choice], "usage": usage}
    text = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    return httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})


def use_gateway(url: str) -> None:
    """Send this process's model calls to the gateway at `url`."""
    global _gateway
    _gateway = url
    if url:
        os.environ["OPENAI_BASE_URL"] = url
    else:
        os.environ.pop("OPENAI_BASE_URL", None)


def _localhost_url(url: str | None) -> str | None:
    """lfx's rewriting of loopback addresses inside containers, except for the gateway."""
    return url if url and url == _gateway else _transform_localhost_url(url)


def _protect_connection(kwargs: dict[str, Any], *, model_class_name: str, url_param: str | None) -> None:
    """lfx's check of a model's address, which refuses loopback, except for the gateway."""
    if _gateway and url_param and kwargs.get(url_param) == _gateway:
        kwargs.update(_clients())
        return
    _protect_model_connection(kwargs, model_class_name=model_class_name, url_param=url_param)


def _client_kwargs(base_url: str | None, *, default_url: str | None = None) -> dict[str, Any]:
    """The same check for components of a single provider."""
    if _gateway and base_url == _gateway:
        return dict(_clients())
    return _openai_compatible_client_kwargs(base_url, default_url=default_url)


def _clients() -> Mapping[str, httpx.Client | httpx.AsyncClient]:
    """Clients for plain HTTP on loopback: without certificates, proxies and redirects."""
    options: dict[str, Any] = {"verify": False, "trust_env": False, "transport": _transport}
    return {"http_client": httpx.Client(**options), "http_async_client": httpx.AsyncClient(**options)}
