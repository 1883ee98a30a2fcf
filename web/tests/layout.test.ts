import { expect, test } from "vitest";

import { edgeBetween } from "../src/flow/connect";
import { ROW_WIDTH, arrange } from "../src/flow/layout";
import type { FlowDocument } from "../src/api/contract";
import { INPUT, OUTPUT, echo, node } from "./flows";

const SIZE = { width: 280, height: 200 };

function chain(length: number): FlowDocument {
  const nodes = Array.from({ length }, (_, at) => node(`N-${at}`, { input_value: INPUT }, [OUTPUT]));
  const flow: FlowDocument = { data: { nodes, edges: [] } };
  const edges = nodes.slice(1).map((_, at) => edgeBetween(flow, { node: `N-${at}`, port: "message" }, { node: `N-${at + 1}`, port: "input_value" }));
  return { data: { nodes, edges } };
}

test("no two nodes overlap, and no row is wider than a screen", () => {
  for (const flow of [echo(), chain(1), chain(6), chain(40)]) {
    const places = [...arrange(flow, () => SIZE).values()];
    expect(places).toHaveLength(flow.data?.nodes.length ?? 0);
    for (const [at, one] of places.entries()) {
      expect(one.x + SIZE.width).toBeLessThanOrEqual(ROW_WIDTH + SIZE.width);
      for (const other of places.slice(at + 1)) {
        const apart = Math.abs(one.x - other.x) >= SIZE.width || Math.abs(one.y - other.y) >= SIZE.height;
        expect(apart).toBe(true);
      }
    }
  }
});
