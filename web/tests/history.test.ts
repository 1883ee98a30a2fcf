import { expect, test } from "vitest";

import { STEPS, amend, begin, redo, step, undo } from "../src/flow/history";

test("undo and redo walk the steps, and end where they end", () => {
  const history = step(step(begin(1), 2), 3);
  expect(undo(history).present).toBe(2);
  expect(redo(undo(history))).toEqual(history);
  expect(undo(undo(undo(history))).present).toBe(1);
  expect(redo(history)).toBe(history);
});

test("a step after undo forgets what was undone; an amendment belongs to the last step", () => {
  expect(step(undo(step(begin(1), 2)), 9).future).toEqual([]);
  expect(undo(amend(step(begin(1), 2), 3)).present).toBe(1);
  expect(step(begin(1), 1).past).toEqual([]);
});

test("there is an end to what is kept", () => {
  let history = begin(0);
  for (let at = 1; at <= STEPS * 2; at += 1) history = step(history, at);
  expect(history.past).toHaveLength(STEPS);
});
