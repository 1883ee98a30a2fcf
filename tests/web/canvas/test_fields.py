"""Fields of each kind, edited in their place or in an editor, and stored as Langflow stores them."""

import json
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import chosen, flow_with, node, opened, stored, template_of, value
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio


async def test_the_variables_of_a_prompt_become_ports_and_a_bad_one_is_explained(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "Prompt Template"))
        prompt = node(look, "Prompt Template")
        template = prompt.get_by_role("textbox", name="Template")
        await template.fill("Dear {reader}")
        await template.press("Tab")
        await expect(prompt.get_by_role("textbox", name="reader")).to_be_visible()
        await expect(prompt.locator(".react-flow__handle.target")).to_have_count(1)
        await template.fill("Dear {bad name}")
        await template.press("Tab")
        await expect(prompt.get_by_role("alert")).to_contain_text("bad name")
        await template.fill("Dear {friend}")
        await template.press("Tab")
        await expect(prompt.get_by_role("textbox", name="friend")).to_be_visible()
        await expect(prompt.get_by_role("alert")).to_have_count(0)
        assert await value(look, flow, "friend") == ""
        look.problems.clear()  # the console tells of the value that was refused


async def test_an_option_shows_the_fields_that_it_needs(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "TextOperations"))
        operations = node(look, "Text Operations")
        await operations.get_by_label("Operation").select_option("Text Replace")
        await expect(operations.get_by_label("Replacement Text")).to_be_visible()
        assert [one["name"] for one in await value(look, flow, "operation")] == ["Text Replace"]
        await look.page.get_by_role("button", name="Undo").click()
        await expect(operations.get_by_label("Replacement Text")).to_have_count(0)


async def test_a_table_is_edited_row_by_row(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "StructuredOutput"))
        before = await value(look, flow, "output_schema")
        await node(look, "Structured Output").get_by_role("button", name="Output Schema").click()
        dialog = look.page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Add a row").click()
        await dialog.get_by_role("textbox", name=f"Name {len(before) + 1}").fill("city")
        await dialog.get_by_role("button", name="Apply").click()
        await expect(look.page.get_by_role("dialog")).to_have_count(0)
        rows = await value(look, flow, "output_schema")
        assert len(rows) == len(before) + 1
        assert rows[-1]["name"] == "city"


async def test_code_is_written_with_the_tab_key_and_left_with_escape(browser: Browser, catalogue: Catalogue) -> None:
    document = flow_with(catalogue, "ChatInput")
    template = template_of(document)
    template["rule"] = {"type": "code", "name": "rule", "display_name": "Rule", "show": True, "value": "a = 1"}
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, document)
        await node(look, "Chat Input").get_by_role("button", name="Rule: 1 line").click()
        editor = look.page.get_by_role("dialog").get_by_role("textbox", name="Rule")
        await expect(editor).to_be_focused()
        await editor.press("Home")
        await editor.press("Tab")
        await expect(editor).to_have_value("    a = 1")
        await editor.press("Shift+Tab")
        await expect(editor).to_have_value("a = 1")
        await editor.press("End")
        await editor.press_sequentially("\nb = 2")
        await editor.press("Escape")
        await editor.press("Tab")
        await expect(editor).not_to_be_focused()
        await look.page.get_by_role("button", name="Apply").click()
        assert await value(look, flow, "rule") == "a = 1\nb = 2"
        await expect(node(look, "Chat Input").get_by_role("button", name="Rule: 2 lines")).to_be_focused()


async def test_a_file_is_chosen_or_uploaded(browser: Browser, catalogue: Catalogue, tmp_path: Path) -> None:
    hours = tmp_path / "more.txt"
    hours.write_text("ten to four")
    async with looking(browser, assistant(catalogue)) as look:
        await look.live.client.post("/api/v1/files", files={"file": ("hours.txt", b"nine to five")})
        flow = await opened(look, flow_with(catalogue, "File"))
        reader = look.page.locator("article.node")
        await reader.get_by_role("button", name="Choose a file").click()
        dialog = look.page.get_by_role("dialog")
        await dialog.get_by_role("checkbox", name="hours.txt").check()
        await dialog.locator("input[type=file]").set_input_files(hours)
        await expect(dialog.get_by_role("checkbox", name="more.txt")).to_be_checked()
        await dialog.get_by_role("button", name="Apply").click()
        await expect(reader.get_by_role("button", name="hours.txt, more.txt")).to_be_visible()
        document = await stored(look, flow)
        field = document["data"]["nodes"][0]["data"]["node"]["template"]["path"]
        assert field["file_path"] == ["hours.txt", "more.txt"]


@pytest.mark.parity(
    "base-term-recover-model-option", "term-recover-model-option", "smoke-model-shown", "ADR-028",
    "base-scenario-double-encoding-shown",
)  # fmt: skip
async def test_a_model_is_chosen_from_those_the_server_knows_and_shown_by_its_name(
    browser: Browser, catalogue: Catalogue
) -> None:
    document = flow_with(catalogue, "LanguageModelComponent")
    template = template_of(document)
    template["model"]["value"] = [{"name": json.dumps([{"name": "gpt-4o", "provider": "OpenAI"}])}]
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, document)
        model = look.page.locator("article.node [data-kind=model] button")
        await expect(model).to_have_text("Language Model: OpenAI: gpt-4o")
        await model.click()
        dialog = look.page.get_by_role("dialog")
        await dialog.get_by_role("searchbox").fill("claude")
        first = dialog.get_by_role("group", name="Anthropic").get_by_role("radio").first
        await first.check()
        await dialog.get_by_role("button", name="Apply").click()
        await expect(model).to_contain_text("Anthropic: claude")
        await expect(look.page.locator(".saving")).to_have_text("Saved")
        [chosen_model] = await value(look, flow, "model")
        assert chosen_model["provider"] == "Anthropic"


async def test_sliders_choices_and_lists_keep_their_kind(browser: Browser, catalogue: Catalogue) -> None:
    document = flow_with(catalogue, "ChatInput")
    template = template_of(document)
    shown = {"show": True, "advanced": False}
    template |= {
        "depth": {**shown, "type": "slider", "display_name": "Depth", "value": 1,
                  "range_spec": {"min": 1, "max": 5, "step": 1}},
        "kinds": {**shown, "type": "str", "display_name": "Kinds", "list": True, "value": [],
                  "options": ["csv", "pdf"]},
        "words": {**shown, "type": "str", "display_name": "Words", "list": True, "value": ["one"]},
        "notes": {**shown, "type": "dict", "display_name": "Notes", "value": {"a": "b"}},
        "nested": {**shown, "type": "NestedDict", "display_name": "Nested", "value": {"a": {"b": 1}}},
    }  # fmt: skip
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, document)
        chat = node(look, "Chat Input")
        slider = chat.get_by_role("slider", name="Depth")
        await slider.press("ArrowRight")
        await slider.press("ArrowRight")
        await chat.locator("[data-kind=choices] summary").click()
        await chat.get_by_role("checkbox", name="pdf").check()
        await chat.get_by_role("button", name="Add an entry").click()
        await chat.get_by_role("textbox", name="Words, entry 2").fill("two")
        await chat.get_by_role("button", name="Notes").click()
        await look.page.get_by_role("textbox", name="Value 1").fill("c")
        await look.page.get_by_role("button", name="Apply").click()
        await chat.get_by_role("button", name="Nested").click()
        editor = look.page.get_by_role("dialog").get_by_role("textbox", name="Nested")
        await editor.fill("{")
        await expect(look.page.get_by_role("button", name="Apply")).to_be_disabled()
        await editor.fill('{"a": [1]}')
        await look.page.get_by_role("button", name="Apply").click()
        template = (await stored(look, flow))["data"]["nodes"][0]["data"]["node"]["template"]
        assert {name: template[name]["value"] for name in ("depth", "kinds", "words", "notes", "nested")} == {
            "depth": 3,
            "kinds": ["pdf"],
            "words": ["one", "two"],
            "notes": {"a": "c"},
            "nested": {"a": [1]},
        }


async def test_a_component_becomes_a_tool_and_a_step_again(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, flow_with(catalogue, "CalculatorComponent"))
        calculator = await chosen(look, "Calculator")
        await look.page.get_by_role("button", name="Use as a tool").click()
        await expect(calculator.locator(".port-row.output")).to_have_text(["Toolset"])
        await look.page.get_by_role("button", name="Use as a tool").click()
        await expect(calculator.locator(".port-row.output")).not_to_have_text(["Toolset"])


async def test_the_source_of_a_component_is_read_and_not_changed(browser: Browser, catalogue: Catalogue) -> None:
    document = flow_with(catalogue, "ChatInput")
    source = template_of(document)["code"]["value"]
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, document)
        await chosen(look, "Chat Input")
        await look.page.get_by_role("button", name="Show its code").click()
        dialog = look.page.get_by_role("dialog")
        text = dialog.get_by_role("textbox")
        await expect(text).to_have_value(source)
        await expect(text).not_to_be_editable()
        await expect(dialog.get_by_role("button", name="Apply")).to_have_count(0)
        await text.press("Tab")
        await expect(dialog.get_by_role("button", name="Close").last).to_be_focused()
        await look.page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        assert await value(look, flow, "code") == source


async def test_numbers_toggles_and_secrets_are_edited_in_their_place(browser: Browser, catalogue: Catalogue) -> None:
    document = flow_with(catalogue, "ChatInput")
    shown = {"show": True, "advanced": False}
    template_of(document).update(
        {
            "count": {**shown, "type": "int", "display_name": "Count", "value": 1},
            "loud": {**shown, "type": "bool", "display_name": "Loud", "value": False},
            "key": {**shown, "type": "str", "display_name": "Key", "password": True, "value": ""},
        }
    )
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, document)
        chat = node(look, "Chat Input")
        await chat.get_by_label("Count").fill("7")
        await chat.get_by_label("Loud").check()
        secret = chat.get_by_label("Key")
        await expect(secret).to_have_attribute("type", "password")
        await secret.fill("SEARCH_KEY")
        assert [await value(look, flow, name) for name in ("count", "loud", "key")] == [7, True, "SEARCH_KEY"]
