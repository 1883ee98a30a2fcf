import { describe, expect, it } from "vitest";

import { blocksOf } from "../src/ui/blocks";
import { mayHoldSecret } from "../src/state/secret";

const TEXT = [
  "# Title",
  "One paragraph\nof two lines.",
  "- an item\n\n  with a paragraph\n\n- another",
  "```py\na = 1\n\nb = 2\n```",
  "| a | b |\n| - | - |\n| 1 | 2 |",
  "    indented code",
  "The end.",
].join("\n\n");

describe("blocksOf", () => {
  it("loses nothing", () => {
    for (let length = 0; length <= TEXT.length; length++) expect(blocksOf(TEXT.slice(0, length)).join("")).toBe(TEXT.slice(0, length));
  });
  it("keeps lists, fences and what is indented together", () => {
    expect(blocksOf(TEXT).map((block) => block.trimEnd())).toEqual([
      "# Title",
      "One paragraph\nof two lines.\n\n- an item\n\n  with a paragraph\n\n- another",
      "```py\na = 1\n\nb = 2\n```",
      "| a | b |\n| - | - |\n| 1 | 2 |\n\n    indented code",
      "The end.",
    ]);
  });
  it("changes only the last block as a text grows", () => {
    for (let length = 1; length < TEXT.length; length++) {
      const [before, after] = [blocksOf(TEXT.slice(0, length)), blocksOf(TEXT.slice(0, length + 1))];
      expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    }
  });
  it("keeps a text with definitions whole", () => {
    expect(blocksOf("See [it].\n\nMore.\n\n[it]: https://example.com")).toHaveLength(1);
  });
});

describe("mayHoldSecret", () => {
  it.each(["sk-proj-Abc123Def456Ghi789", "my password is hunter2", "o token do bot", "use AKIAIOSFODNN7EXAMPLE"])("does not remember %s", (text) => {
    expect(mayHoldSecret(text)).toBe(true);
  });
  it.each(["Build a chatbot", "Add 12 components", "Why does @Chat Input fail?", "Übersetze in drei Sprachen"])("remembers %s", (text) => {
    expect(mayHoldSecret(text)).toBe(false);
  });
});
