import { describe, expect, test } from "vitest";

import { commandOf, completionsOf } from "../src/assistant/commands";
import { choicesFor, mentionAt, withChoice } from "../src/assistant/mentions";
import { echo } from "./flows";

const written = (text: string) => mentionAt(text, text.length);

describe("mentions", () => {
  test.each([
    ["@", ""],
    ["tell me about @chat", "chat"],
    ["one\n@Ag", "Ag"],
  ])("%j names a component", (text, query) => {
    expect(written(text)).toEqual({ kind: "component", start: text.lastIndexOf("@"), query });
  });

  test.each(["mail me@example.org", "@a b", "no mention", "'ChatInput-1'", "it's. so", ""])("%j is no mention", (text) => {
    expect(written(text)).toBeNull();
  });

  test("a dot behind a component names a field, adjacent alone", () => {
    expect(written("see 'ChatInput-1'.inp")).toEqual({ kind: "field", start: 4, node: "ChatInput-1", query: "inp" });
    expect(written("see 'ChatInput-1' .inp")).toBeNull();
  });

  test("what is typed filters, and names that begin with it come first", () => {
    const found = (text: string) => {
      const mention = written(text);
      return mention === null ? [] : choicesFor(echo(), mention).map((choice) => choice.token);
    };
    expect(found("@")).toEqual(["'ChatInput-1'", "'ChatOutput-2'", "'Agent-3'"]);
    expect(found("@out")).toEqual(["'ChatOutput-2'"]);
    expect(found("@a")).toEqual(["'Agent-3'", "'ChatInput-1'", "'ChatOutput-2'"]);
    expect(found("'ChatOutput-2'.")).toEqual(["'ChatOutput-2.input_value' "]);
    expect(found("'Nothing-1'.")).toEqual([]);
  });

  test("a choice replaces what was typed, and the rest of the text stays", () => {
    const text = "set @ch to x";
    const mention = mentionAt(text, 7);
    const [choice] = mention === null ? [] : choicesFor(echo(), mention);
    expect(mention !== null && choice !== undefined && withChoice(text, 7, mention, choice)).toEqual(["set 'ChatInput-1' to x", 17]);
  });
});

test("a command is the whole message, and no message that begins like one", () => {
  expect(commandOf(" /skip-all ")).toBe("/skip-all");
  expect(commandOf("/skip-all please")).toBeNull();
  expect(commandOf("/unknown")).toBeNull();
  expect(completionsOf("/s")).toEqual(["/skip-all"]);
  expect(completionsOf("/")).toHaveLength(6);
  expect(completionsOf("/new idea")).toEqual([]);
  expect(completionsOf("/new")).toEqual([]);
});
