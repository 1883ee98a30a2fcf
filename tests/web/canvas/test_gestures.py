"""Gestures on the canvas: copying, pasting, dropping, notes, renaming, and what the keyboard does."""

import json

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import chosen, flow_with, node, nodes, opened, stored, template_of
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio
DROP = """([selector, name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const box = document.querySelector(selector).getBoundingClientRect();
  const at = {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2};
  for (const kind of ["dragover", "drop"]) {
    document.querySelector(selector).dispatchEvent(
      new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true, ...at}));
  }
}"""


async def dropped(look: Look, selector: str, name: str, text: str) -> None:
    """Drop a file on something."""
    await look.page.evaluate(DROP, [selector, name, text])


async def test_components_are_copied_between_flows_without_their_secrets(
    browser: Browser, catalogue: Catalogue
) -> None:
    document = flow_with(catalogue, "ChatInput", "ChatOutput")
    template = template_of(document)
    template["key"] = {
        "type": "str",
        "name": "key",
        "display_name": "Key",
        "password": True,
        "show": True,
        "value": "open-sesame",
    }
    async with looking(browser, assistant(catalogue)) as look:
        await look.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await opened(look, document)
        await chosen(look, "Chat Input")
        await look.page.keyboard.press("ControlOrMeta+a")
        await expect(look.page.locator(".node.selected")).to_have_count(2)
        await look.page.keyboard.press("ControlOrMeta+c")
        text = await look.page.evaluate("navigator.clipboard.readText()")
        assert len(json.loads(text)["data"]["nodes"]) == 2
        assert "open-sesame" not in text
        other = await opened(look, flow_with(catalogue, "TextInput"))
        await chosen(look, "Text Input")
        await look.page.keyboard.press("ControlOrMeta+v")
        await expect(nodes(look)).to_have_count(3)
        await expect(look.page.locator(".node.selected")).to_have_count(2)
        await look.page.keyboard.press("ControlOrMeta+v")
        await expect(nodes(look)).to_have_count(5)
        ids = [one["id"] for one in (await stored(look, other))["data"]["nodes"]]
        assert len(set(ids)) == 5


async def test_the_keyboard_duplicates_cuts_deletes_and_undoes(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput", "ChatOutput"))
        keyboard = look.page.keyboard
        await chosen(look, "Chat Input")
        await keyboard.press("ControlOrMeta+d")
        await expect(nodes(look)).to_have_count(3)
        await keyboard.press("Delete")
        await expect(nodes(look)).to_have_count(2)
        await expect(look.page.locator(".canvas")).to_be_focused()
        await keyboard.press("ControlOrMeta+z")
        await expect(nodes(look)).to_have_count(3)
        await keyboard.press("ControlOrMeta+Shift+z")
        await expect(nodes(look)).to_have_count(2)
        await keyboard.press("ControlOrMeta+a")
        await keyboard.press("ControlOrMeta+x")
        await expect(nodes(look)).to_have_count(0)
        assert (await stored(look, flow))["data"]["nodes"] == []


async def test_keys_in_a_field_belong_to_the_field(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, flow_with(catalogue, "ChatInput"))
        field = (await chosen(look, "Chat Input")).get_by_role("textbox", name="Input Text")
        await field.fill("words")
        for keys in ("ControlOrMeta+a", "ControlOrMeta+c", "Delete", "ControlOrMeta+v", "Backspace"):
            await field.press(keys)
        await expect(field).to_have_value("word")
        await expect(nodes(look)).to_have_count(1)


async def test_a_component_is_renamed_in_its_place(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        await chosen(look, "Chat Input")
        await look.page.keyboard.press("F2")
        title = look.page.locator("article.node").get_by_role("textbox", name="Name")
        await title.fill("Question")
        await title.press("Enter")
        await expect(node(look, "Question")).to_be_visible()
        await expect(look.page.locator(".react-flow__node")).to_be_focused()
        await node(look, "Question").locator("strong").dblclick()
        await title.fill("Nothing")
        await title.press("Escape")
        await expect(node(look, "Question")).to_be_visible()
        document = await stored(look, flow)
        assert document["data"]["nodes"][0]["data"]["node"]["display_name"] == "Question"


async def test_a_note_is_written_coloured_and_deleted(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        await look.page.get_by_role("button", name="Add note").click()
        note = look.page.get_by_role("article", name="Note")
        await expect(note.get_by_role("textbox", name="Note")).to_be_focused()
        await note.get_by_role("textbox", name="Note").fill("Ask **nicely**")
        await look.page.keyboard.press("Escape")
        await expect(note.locator("strong")).to_have_text("nicely")
        await note.get_by_role("button", name="Blue").click()
        await expect(note).to_have_attribute("data-colour", "blue")
        kept = (await stored(look, flow))["data"]["nodes"][1]
        assert (kept["type"], kept["data"]["node"]["description"]) == ("noteNode", "Ask **nicely**")
        assert kept["data"]["node"]["template"]["backgroundColor"] == "blue"
        await look.page.get_by_role("toolbar").get_by_role("button", name="Delete").click()
        await expect(note).to_have_count(0)


async def test_a_note_is_resized_by_its_corner_and_by_buttons(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        await look.page.get_by_role("button", name="Add note").click()
        note = look.page.get_by_role("article", name="Note")
        await note.get_by_role("textbox", name="Note").fill("Ask nicely")
        await look.page.keyboard.press("Escape")
        before = await note.bounding_box()
        corner = await look.page.locator(".react-flow__resize-control.bottom.right").bounding_box()
        assert before is not None
        assert corner is not None
        x, y = corner["x"] + corner["width"] / 2, corner["y"] + corner["height"] / 2
        await look.page.mouse.move(x, y)
        await look.page.mouse.down()
        await look.page.mouse.move(x + 60, y + 50, steps=4)
        await look.page.mouse.up()
        kept = (await stored(look, flow))["data"]["nodes"][1]
        assert kept["width"] > 280
        assert kept["height"] > 96
        assert kept["style"] == {"width": kept["width"], "height": kept["height"]}
        await note.get_by_role("button", name="Smaller").press("Enter")
        smaller = (await stored(look, flow))["data"]["nodes"][1]
        assert smaller["width"] < kept["width"]
        await look.page.get_by_role("button", name="Undo").click()
        assert (await stored(look, flow))["data"]["nodes"][1]["width"] == kept["width"]
        await look.page.reload()
        after = await note.bounding_box()
        assert after is not None
        assert after["width"] / after["height"] == pytest.approx(kept["width"] / kept["height"], rel=0.05)


async def test_a_flow_that_is_dropped_is_put_on_the_canvas(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        await dropped(
            look, ".react-flow__pane", "other.json", json.dumps(flow_with(catalogue, "SplitText", "ChatOutput"))
        )
        await expect(nodes(look)).to_have_count(3)
        await expect(look.page.locator(".node.selected")).to_have_count(2)
        await look.page.get_by_role("button", name="Undo").click()
        await expect(nodes(look)).to_have_count(1)
        assert len((await stored(look, flow))["data"]["nodes"]) == 1


async def test_a_file_that_is_dropped_fills_the_field_under_it_or_is_read_by_a_new_component(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "File"))
        await dropped(look, "[data-file-field=path]", "hours.txt", "nine to five")
        await expect(look.page.locator("[data-file-field=path] button").first).to_contain_text("hours.txt")
        await dropped(look, ".react-flow__pane", "more.txt", "ten to four")
        await expect(nodes(look)).to_have_count(2)
        await expect(look.page.locator("[data-file-field=path] button").nth(1)).to_contain_text("more.txt")
        await expect(look.page.locator(".saving")).to_have_text("Saved")
        fields = [one["data"]["node"]["template"]["path"] for one in (await stored(look, flow))["data"]["nodes"]]
        assert [field["file_path"] for field in fields] == [["hours.txt"], ["more.txt"]]
        await dropped(look, "[data-file-field=path]", "program.exe", "MZ")
        await expect(look.page.get_by_text("program.exe is not read by Files")).to_be_visible()
        files = (await look.live.client.get("/api/v1/files")).json()["files"]
        assert [file["path"] for file in files] == ["hours.txt", "more.txt"]


async def test_a_file_replaces_another_of_its_name_only_where_that_is_meant(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page, client = look.page, look.live.client
        await opened(look, flow_with(catalogue, "File"))
        await dropped(look, "[data-file-field=path]", "hours.txt", "nine to five")
        button = page.locator("[data-file-field=path] button").first
        await expect(button).to_contain_text("hours.txt")
        page.once("dialog", lambda dialog: dialog.dismiss())
        await dropped(look, "[data-file-field=path]", "hours.txt", "ten to four")
        await expect(button).to_contain_text("hours (2).txt")
        page.once("dialog", lambda dialog: dialog.accept())
        async with page.expect_response("**/api/v1/files"):
            await dropped(look, "[data-file-field=path]", "hours.txt", "noon to one")
        await expect(button).to_contain_text("hours.txt")
        kept = {
            one["path"]: (await client.get(one["url"])).text
            for one in (await client.get("/api/v1/files")).json()["files"]
        }
        assert kept == {"hours.txt": "noon to one", "hours (2).txt": "ten to four"}


async def test_ports_differ_by_shape_and_letter_and_the_legend_names_them(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, flow_with(catalogue, "Agent", "StructuredOutput"))
        await look.page.locator(".legend summary").click()
        entries = look.page.locator(".legend li")
        await expect(entries.filter(has_text="LanguageModel")).to_be_visible()
        looks = await entries.evaluate_all(
            "(all) => all.map((one) => one.firstChild.className + one.firstChild.dataset.letter)"
        )
        assert len(set(looks)) >= 4
        assert len(set(looks)) == len(looks)
