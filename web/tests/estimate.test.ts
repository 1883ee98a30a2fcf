import { expect, test } from "vitest";

import { drawn, isDrawnAlike, measured } from "../src/canvas/drawing";
import type { AnyNode } from "../src/canvas/drawing";
import { MANY, estimated } from "../src/canvas/estimate";
import { NO_DIFFERENCE } from "../src/flow/difference";
import { withGraph } from "../src/flow/document";
import { INPUT, OUTPUT, echo, node } from "./flows";

function chain(count: number) {
  const fields = { input_value: INPUT, template: { display_name: "Template", type: "str", multiline: true, value: "" } };
  return withGraph(echo(), Array.from({ length: count }, (_, at) => node(`Prompt-${at}`, fields, [OUTPUT])), []);
}

test("a component is as high as what it shows, and each of its ports has a place in it", () => {
  const small = node("A-1", { input_value: INPUT }, [OUTPUT]);
  const large = node("A-2", { input_value: INPUT, text: { type: "str", multiline: true, value: "" } }, [OUTPUT]);
  const [one, other] = [estimated(small, new Set()), estimated(large, new Set())];
  expect(other.measured.height).toBeGreaterThan(one.measured.height);
  expect(estimated(small, new Set(["input_value"])).measured.height).toBeLessThan(one.measured.height);
  expect(one.handles.map(({ id, type }) => `${type} ${id ?? ""}`)).toEqual(["target input_value", "source message"]);
  for (const { y } of other.handles) expect(y > 0 && y < other.measured.height).toBe(true);
});

test("an estimate is never what a browser measures, so that each component is measured once it is drawn", () => {
  for (const one of chain(3).data?.nodes ?? []) expect(Number.isInteger(estimated(one, new Set()).measured.height)).toBe(false);
});

test("a large flow has sizes before it is drawn; a small one is measured", () => {
  const sizes = (count: number) => drawn(chain(count), new Set(), NO_DIFFERENCE, []).filter((one) => one.measured !== undefined && one.handles !== undefined);
  expect(sizes(MANY)).toHaveLength(0);
  expect(sizes(MANY + 1)).toHaveLength(MANY + 1);
});

test("what has been measured loses its estimate, and nothing else becomes another object", () => {
  const nodes = drawn(chain(MANY + 1), new Set(), NO_DIFFERENCE, []);
  const after = measured(nodes, [{ type: "dimensions", id: "Prompt-0", dimensions: { width: 280, height: 190 } }]);
  expect(after[0]?.handles).toBeUndefined();
  expect(after.slice(1).every((one, at) => one === nodes[at + 1])).toBe(true);
  expect(measured(nodes, [{ type: "position", id: "Prompt-0", position: { x: 1, y: 1 } }])).toBe(nodes);
});

test("a component that is only moved looks the same; another value, and being selected, do not", () => {
  const [first] = drawn(chain(1), new Set(), NO_DIFFERENCE, []);
  const props = { ...(first as AnyNode), positionAbsoluteX: 0, positionAbsoluteY: 0, dragging: false, selected: false };
  const of = (change: object) => ({ ...props, ...change }) as unknown as Parameters<typeof isDrawnAlike>[0];
  expect(isDrawnAlike(of({}), of({ positionAbsoluteX: 9, dragging: true, zIndex: 4 }))).toBe(true);
  expect(isDrawnAlike(of({}), of({ selected: true }))).toBe(false);
  expect(isDrawnAlike(of({}), of({ data: { ...props.data, isChanged: true } }))).toBe(false);
});
