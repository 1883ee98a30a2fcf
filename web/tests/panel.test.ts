import { describe, expect, it } from "vitest";

import { changeOf, withChange } from "../src/assistant/changes";
import { withTest } from "../src/assistant/flowTests";
import { withMentions } from "../src/assistant/mentions";
import { modelName } from "../src/assistant/modelName";
import { pressed } from "../src/assistant/shortcut";
import { hashOf, placeOf } from "../src/state/place";
import { attemptOf } from "../src/views/evaluation";

describe("the panel's pure parts", () => {
  it("shows a model by its name however often it was encoded", () => {
    const once = [{ provider: "OpenAI", name: "gpt-4o" }];
    const twice = JSON.stringify([{ name: JSON.stringify(once) }]);
    for (const value of ["gpt-4o", once, once[0], JSON.stringify(once), twice, JSON.stringify(twice)]) expect(modelName(value)).toBe("gpt-4o");
    expect(modelName("[not json")).toBe("[not json");
    expect(modelName(null)).toBe("");
  });

  it("lists a change that is told again once", () => {
    const told = { event: "flow_update", action: "remove_component", component_id: "A-1" } as never;
    const change = changeOf(told);
    expect(change).not.toBeNull();
    if (change !== null) expect(withChange(withChange([], change), change)).toHaveLength(1);
  });

  it("sends the selection as mentions, none of them twice", () => {
    expect(withMentions("shorter", ["A-1", "B-2"])).toBe("shorter\n\n'A-1', 'B-2'");
    expect(withMentions("make 'A-1' shorter", ["A-1"])).toBe("make 'A-1' shorter");
    expect(withMentions("shorter", [])).toBe("shorter");
  });

  it("reads the keys of a shortcut, and no plain letter", () => {
    const keys = { key: "å", code: "KeyA", ctrlKey: false, altKey: true, shiftKey: false, metaKey: false };
    expect(pressed(keys)).toBe("Alt+A");
    expect(pressed({ ...keys, altKey: false, key: "a" })).toBeNull();
    expect(pressed({ ...keys, key: "Alt", code: "AltLeft" })).toBeNull();
    expect(pressed({ ...keys, altKey: false, ctrlKey: true, shiftKey: true, key: "K", code: "KeyK" })).toBe("Ctrl+Shift+K");
  });

  it("has an address for every place", () => {
    for (const hash of ["#/flows", "#/providers", "#/evaluations/may%2Fa.jsonl", "#/flow/f-1", "#/flow/f-1/tests"]) {
      expect(hashOf(placeOf(hash))).toBe(hash);
    }
    expect(placeOf("#/nowhere")).toEqual({ view: "flows" });
  });

  it("keeps a test once, and says what a line of a journal is", () => {
    const test = { input: "hi", equals: "ho" };
    expect(withTest(withTest([], test), { ...test })).toHaveLength(1);
    const line = { scenario: "s", repeat: 1, player: "demo", passed: false, scores: [{ name: "valid", value: true }] };
    expect(attemptOf(line)).toEqual({ title: "s #2", detail: "demo", passed: false, scores: [["valid", "✓"]] });
    expect(attemptOf(null).passed).toBeNull();
  });
});
