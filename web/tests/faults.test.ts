import { expect, test } from "vitest";

import type { Fault } from "../src/api/contract";
import { nodesOf } from "../src/flow/document";
import { move, setField } from "../src/flow/edit";
import { knownOf, note, noteAll, together } from "../src/flow/faults";
import { begin, redo, step, undo } from "../src/flow/history";
import { echo } from "./flows";

const ID = "ChatInput-1";

function fault(given: Partial<Fault> = {}): Fault {
  return { code: "bad_template", severity: "error", node: ID, port: null, field: "input_value", line: null, message: "No.", fix: "Write it.", ...given };
}

function first(flow: ReturnType<typeof echo>) {
  const [node] = nodesOf(flow);
  if (node === undefined) throw new Error("no component");
  return node;
}

test("faults belong to what a component holds: undone, they are gone, and repeated, they are back", () => {
  const known = new WeakMap<object, readonly Fault[]>();
  let history = step(begin(echo()), setField(echo(), ID, "input_value", "{1x}"));
  noteAll(known, history.present, [fault()]);
  expect(knownOf(known, first(history.present))).toEqual([fault()]);
  history = undo(history);
  expect(knownOf(known, first(history.present))).toBeUndefined();
  history = redo(history);
  expect(knownOf(known, first(history.present))).toEqual([fault()]);
  const moved = move(history.present, new Map([[ID, { x: 9, y: 9 }]]));
  expect(knownOf(known, first(moved))).toEqual([fault()]);
});

test("a check notes what cannot work, keeps what it has said already, and takes back what is right now", () => {
  const known = new WeakMap<object, readonly Fault[]>();
  const flow = echo();
  noteAll(known, flow, [fault(), fault({ code: "orphan", severity: "warning", field: null }), fault({ code: "missing_input" })]);
  const told = knownOf(known, first(flow));
  expect(told).toEqual([fault()]);
  noteAll(known, flow, [fault()]);
  expect(knownOf(known, first(flow))).toBe(told);
  noteAll(known, flow, []);
  expect(knownOf(known, first(flow))).toBeUndefined();
});

test("a fault that is known from two places is told once", () => {
  const known = new WeakMap<object, readonly Fault[]>();
  note(known, first(echo()), [fault()]);
  expect(together([fault({ message: "As the turn found it." })], [fault(), fault({ field: "other" })])).toHaveLength(2);
});
