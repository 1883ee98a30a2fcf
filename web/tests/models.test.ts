import { describe, expect, it } from "vitest";

import { commandOf, modelWritten } from "../src/assistant/commands";
import { modelChoices, modelMeant } from "../src/assistant/models";
import { plainName } from "../src/ui/plainName";
import { shortened } from "../src/ui/shortened";

const CONFIG = {
  default_provider: "groq",
  default_model: "qwen",
  providers: [
    { name: "groq", display_name: "Groq", configured: true, models: [{ name: "qwen", display_name: "qwen" }, { name: "openai/gpt-oss", display_name: "openai/gpt-oss" }] },
    { name: "mistral", display_name: "Mistral", configured: false, models: [{ name: "small", display_name: "small" }] },
    { name: "own", display_name: "Own server", configured: true, models: [] },
  ],
} as never;

describe("/model", () => {
  it("is a command with one word behind it, and else a message", () => {
    expect(modelWritten("/model groq:qwen")).toBe("groq:qwen");
    expect(modelWritten("/model ")).toBe("");
    for (const text of ["/model", "/models x", "/model of a car", "what is /model x"]) expect(modelWritten(text)).toBeNull();
    expect(commandOf("/model")).toBe("/model");
  });

  it("finds a model by its whole name, by its own name, and by that of a server that lists none", () => {
    expect(modelMeant("GROQ:qwen", CONFIG, [])).toBe("groq:qwen");
    expect(modelMeant("openai/gpt-oss", CONFIG, [])).toBe("groq:openai/gpt-oss");
    expect(modelMeant("own:local-7b", CONFIG, [])).toBe("own:local-7b");
    expect(modelMeant("local-7b", CONFIG, ["own:local-7b"])).toBe("own:local-7b");
    expect(modelMeant("demo", CONFIG, [])).toBe("demo");
    expect(modelMeant("default", CONFIG, [])).toBeNull();
  });

  it("takes no model of a provider that is not set up, none that nobody knows, and none of two", () => {
    for (const name of ["mistral:small", "small", "gpt-9", "own:", ":", "groq"]) expect(modelMeant(name, CONFIG, [])).toBeUndefined();
    expect(modelMeant("qwen", CONFIG, ["own:qwen"])).toBeUndefined();
  });

  it("lists what a name that is being written may become, and not what is written whole", () => {
    const listed = (written: string) => modelChoices(written, CONFIG, ["own:local-7b"]).map(({ value }) => value);
    expect(listed("")).toEqual(["groq:qwen", "groq:openai/gpt-oss", "own:local-7b", "default", "demo"]);
    expect(listed("gpt")).toEqual(["groq:openai/gpt-oss"]);
    expect(listed("q")).toEqual(["groq:qwen", "groq:openai/gpt-oss"]);
    expect(listed("groq:qwen")).toEqual([]);
  });
});

describe("a text that is shortened", () => {
  const family = "👩‍👩‍👧‍👦";
  it.each([
    ["emoji of several", family, family],
    ["flags", "🇩🇪", "🇩🇪"],
    ["skin tones", "👍🏽", "👍🏽"],
    ["combining marks", "e\u0301\u0323", "e\u0301\u0323"],
    ["Hangul in parts", "\u1112\u1161\u11ab", "\u1112\u1161\u11ab"],
  ])("keeps %s whole", (_, letter, kept) => {
    for (const most of [1, 2, 5]) expect(shortened(letter.repeat(9), most)).toBe(`${kept.repeat(most)}…`);
    expect(shortened(letter.repeat(3), 3)).toBe(letter.repeat(3));
  });

  it("ends, whatever is piled up on its letters", () => {
    expect(shortened(`a${"\u0301".repeat(100_000)}`, 10).length).toBeLessThan(500);
    expect(shortened("x".repeat(1_000_000), 60)).toBe(`${"x".repeat(60)}…`);
  });

  it("turns nothing around behind a name", () => {
    expect(plainName("a\u202Eb\u2066c")).toBe("abc");
  });
});
