import { expect, test } from "vitest";

import { recalled } from "../src/assistant/recall";
import type { Recall } from "../src/assistant/recall";

const NONE: Recall = { at: null, draft: "" };
const INPUTS = ["first", "second"];
const at = (place: number): [number, number] => [place, place];

test("up goes back through the inputs, down returns to the draft", () => {
  const second = recalled("up", "draft", at(0), NONE, INPUTS);
  expect(second).toEqual({ text: "second", recall: { at: 1, draft: "draft" } });
  const first = recalled("up", "second", at(0), second?.recall ?? NONE, INPUTS);
  expect(first?.text).toBe("first");
  expect(recalled("up", "first", at(0), first?.recall ?? NONE, INPUTS)).toBeNull();
  const back = recalled("down", "first", at(5), first?.recall ?? NONE, INPUTS);
  expect(back?.text).toBe("second");
  expect(recalled("down", "second", at(6), back?.recall ?? NONE, INPUTS)).toEqual({ text: "draft", recall: NONE });
});

test("inside a text of several lines the arrows move the cursor", () => {
  expect(recalled("up", "one\ntwo", at(7), NONE, INPUTS)).toBeNull();
  expect(recalled("up", "one\ntwo", at(2), NONE, INPUTS)?.text).toBe("second");
  expect(recalled("down", "one\ntwo", at(2), { at: 0, draft: "" }, INPUTS)).toBeNull();
  expect(recalled("down", "text", at(4), NONE, INPUTS)).toBeNull();
  expect(recalled("up", "text", [0, 4], NONE, INPUTS)).toBeNull();
  expect(recalled("up", "", at(0), NONE, [])).toBeNull();
});
