"""Files in messages: data URLs become the user's files, files of the user are taken, and nothing else is."""

from base64 import b64encode
from typing import Any

import pytest
from pydantic_ai import ModelMessage
from pydantic_ai.messages import UserPromptPart

from agent.models.providers import ModelChoice
from agent.models.scripted import call
from agent.prompts.images import sees_images
from flows.catalogue import Catalogue
from server.settings import ServerSettings
from tests.server.live import Live, serving
from tests.server.routes.aisdk.chats import CHAT, Chat, user
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
FILES = "/api/v1/files"


def part(url: str, **more: object) -> dict[str, Any]:
    return {"type": "file", "mediaType": "text/plain", "url": url, **more}


def data_url(content: bytes, kind: str = "text/plain") -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


async def files(live: Live) -> list[str]:
    return [one["path"] for one in (await live.client.get(FILES)).json()["files"]]


async def test_a_data_url_becomes_a_file_of_the_user_that_the_message_is_about(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", [call("read_file", 1, path="notes.txt")], "It says milk.")
    async with serving(assistant(catalogue, model)) as live:
        await Chat(live.client).say("What does it say?", part(data_url(b"buy milk"), filename="notes.txt"))
        assert (await live.client.get(f"{FILES}/notes.txt")).content == b"buy milk"
    assert "notes.txt" in model.prompts[1]
    assert "buy milk" in str(model.requests[-1])


async def test_a_file_of_the_same_name_is_kept_and_the_same_content_is_not_written_twice(catalogue: Catalogue) -> None:
    model = ScriptedModel(*["question", "Yes."] * 3)
    async with serving(assistant(catalogue, model)) as live:
        await live.client.post(FILES, files={"file": ("notes.txt", b"mine")})
        for content in (b"other", b"other", b"mine"):
            await Chat(live.client).say("Is it?", part(data_url(content), filename="notes.txt"))
        assert await files(live) == ["notes-2.txt", "notes.txt"]
        assert (await live.client.get(f"{FILES}/notes.txt")).content == b"mine"


@pytest.mark.parametrize(
    "address", [f"{FILES}/a%20folder/notes.txt", "http://{host}" + f"{FILES}/a%20folder/notes.txt"]
)
async def test_a_file_of_ours_is_named_by_its_address(catalogue: Catalogue, address: str) -> None:
    model = ScriptedModel("question", "Yes.")
    async with serving(assistant(catalogue, model)) as live:
        await live.client.post(f"{FILES}?folder=a folder", files={"file": ("notes.txt", b"mine")})
        host = live.client.base_url.netloc.decode()
        await Chat(live.client).say("Is it?", part(address.replace("{host}", host)))
        assert await files(live) == ["a folder/notes.txt"]
    assert "a folder/notes.txt" in model.prompts[-1]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://example.com/a.png", "url_refused"),
        ("http://127.0.0.1:1/api/v1/files/notes.txt", "url_refused"),
        ("//example.com/api/v1/files/notes.txt", "url_refused"),
        ("file:///etc/passwd", "url_refused"),
        ("blob:http://localhost/1", "url_refused"),
        ("/api/v1/flows/1", "url_refused"),
        ("/api/v1/files/../../etc/passwd", "file_not_found"),
        ("/api/v1/files/%2e%2e/secret", "file_not_found"),
        ("/api/v1/files/nope.txt", "file_not_found"),
        ("data:text/plain,hello", "invalid_data_url"),
        ("data:text/plain;base64,not base64!", "invalid_data_url"),
        ("data:text/plain;base64,YQ", "invalid_data_url"),
        ("data:text/plain;base64", "invalid_data_url"),
        ("data:" + "x" * 2_000 + ";base64,YQ==", "invalid_data_url"),
        ("data:;;;;;;;;;base64,YQ==", "invalid_data_url"),
        (3, "invalid_request"),
    ],
)
async def test_other_addresses_and_malformed_data_are_refused_and_nothing_begins(
    catalogue: Catalogue, url: str, code: str
) -> None:
    model = ScriptedModel()
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client, messages=[user("Look", part(data_url(b"fine"), filename="fine.txt"), part(url))])
        assert await chat.refused() == (422, code)
        assert await files(live) == [], "nothing of a refused message is kept"
    assert model.requests == []


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\notes.txt", "notes.txt"),
        ("/absolute.txt", "absolute.txt"),
        (" spaced.txt ", "spaced.txt"),
    ],
)
async def test_a_name_with_a_path_is_a_name_without_one(catalogue: Catalogue, name: str, kept: str) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", "Yes."))) as live:
        await Chat(live.client).say("Look", part(data_url(b"a"), filename=name))
        assert await files(live) == [kept]


@pytest.mark.parametrize("name", [".components", ".lfsig", "con.txt", "a\0b.txt", "a\u202eb.txt", "x" * 300, "a?.txt"])
async def test_a_name_that_no_file_may_have_is_refused(catalogue: Catalogue, name: str) -> None:
    async with serving(assistant(catalogue, ScriptedModel())) as live:
        chat = Chat(live.client, messages=[user("Look", part(data_url(b"a"), filename=name))])
        assert await chat.refused() == (422, "file_refused")
        assert await files(live) == []


@pytest.mark.parametrize(
    ("kind", "extension"), [("image/png", ".png"), ("application/x-nothing", ".bin"), ("", ".bin")]
)
async def test_a_file_without_a_name_is_named_by_its_kind(catalogue: Catalogue, kind: str, extension: str) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", "Yes."))) as live:
        await Chat(live.client).say("Look", part(data_url(b"a", kind)))
        [path] = await files(live)
    assert path.startswith("file-")
    assert path.endswith(extension)


async def test_files_have_the_limits_of_all_files(catalogue: Catalogue) -> None:
    settings = ServerSettings(file_limit=1_024, files_count_limit=2)
    async with serving(assistant(catalogue, ScriptedModel()), settings) as live:
        large = Chat(live.client, messages=[user("Look", part(data_url(b"x" * 2_000), filename="large.txt"))])
        assert await large.refused() == (413, "too_large")
        three = [part(data_url(name.encode()), filename=name) for name in ("a.txt", "b.txt", "c.txt")]
        assert await Chat(live.client, messages=[user("Look", *three)]).refused() == (409, "files_full")
        assert await files(live) == []
        many = [part(data_url(b"a"), filename="a.txt")] * 21
        assert await Chat(live.client, messages=[user("Look", *many)]).refused() == (422, "too_many_files")


async def test_a_body_beyond_the_limit_is_not_read(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel()), ServerSettings(chat_body_limit=10_000)) as live:
        chat = Chat(live.client, messages=[user("Look", part(data_url(b"x" * 20_000), filename="a.txt"))])
        assert (await live.client.post(CHAT, json=chat.request())).status_code == 413
        assert await files(live) == []


PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55")


@pytest.mark.parametrize(("model", "sees"), [("claude-sonnet-4-5", True), ("an-old-model", False)])
async def test_models_that_see_images_get_those_of_the_message(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch, model: str, *, sees: bool
) -> None:
    async def chosen(*_: object) -> ModelChoice:
        return ModelChoice(provider="anthropic", names=(model,))

    script = ScriptedModel("question", [call("search_components", 1, query="chat")], "A pixel.", "question", "Yes.")
    wanted = assistant(catalogue, script)
    monkeypatch.setattr(wanted, "choose", chosen)  # what serves is the script
    async with serving(wanted) as live:
        chat = Chat(live.client)
        await chat.say("What is it?", part(data_url(PIXEL, "image/png"), filename="pixel.png"))
        await chat.say("Sure?")
        read = (await live.client.get(f"/api/v1/conversations/{chat.id}")).text
    shown = [PIXEL in [getattr(one, "data", None) for one in contents(request)] for request in script.requests]
    assert shown == [False, sees, sees, False, False], "the requests of its turn, and not the classifier's"
    assert b64encode(PIXEL).decode() not in read


def contents(request: list[ModelMessage]) -> list[object]:
    """What user prompts hold."""
    prompts = [part.content for message in request for part in message.parts if isinstance(part, UserPromptPart)]
    return [one for content in prompts for one in ([content] if isinstance(content, str) else content)]


def test_only_models_that_are_known_to_see_are_shown_images() -> None:
    seeing = ("claude-opus-4", "gemini-3-pro", "gpt-4o-mini", "gpt-5.2", "o3", "meta-llama/llama-4-scout", "qwen3-vl")
    others = ("gpt-3.5-turbo", "o3-mini", "o1-mini", "mistral-small", "llama3.1", "deepseek-chat")
    assert [name for name in seeing if not sees_images([name])] == []
    assert [name for name in others if sees_images([name])] == []
    assert not sees_images([])
    assert not sees_images(["claude-opus-4", "llama3.1"]), "any of a chain may be asked"
