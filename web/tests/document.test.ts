import { describe, expect, it } from "vitest";

import type { NodeDocument } from "../src/api/contract";
import { edgeId, edgesOf, endOf, fieldsOf, isPort, labelOf, outputsOf, startOf, titleOf, typeOf } from "../src/flow/document";
import { placeOf } from "../src/state/place";

const ODD: unknown[] = [null, 7, "text", true, {}, [], [null], [7], { name: {} }];

function nodeWith(node: unknown, type: unknown = "X"): NodeDocument {
  return { id: "X-1", data: { id: "X-1", type, node } };
}

describe("a document that another program wrote", () => {
  it("has texts for titles whatever stands in their place", () => {
    for (const odd of ODD) {
      const node = nodeWith({ display_name: odd, template: {} }, odd);
      expect(typeof titleOf(node)).toBe("string");
      expect(typeof typeOf(node)).toBe("string");
      expect(typeof labelOf({ name: "port", display_name: odd as string })).toBe("string");
    }
  });

  it("has lists of texts for what ports give and take", () => {
    for (const odd of ODD) {
      const field = { display_name: odd, input_types: odd, options: odd };
      const node = nodeWith({ template: { __proto__x: field }, outputs: [{ name: "out", types: odd }] });
      for (const one of fieldsOf(node)) expect(() => [isPort(one), one.input_types?.join(), one.options?.map(String)]).not.toThrow();
      for (const one of outputsOf(node)) expect(() => one.types?.join()).not.toThrow();
      expect(() => outputsOf(nodeWith({ outputs: odd }))).not.toThrow();
      expect(outputsOf(nodeWith({ outputs: [odd, { name: "real" }] })).map(({ name }) => name)).toEqual(["real"]);
    }
  });

  it("has texts for the ends of edges", () => {
    for (const odd of ODD) {
      const flow = { name: "f", data: { nodes: [], edges: [{ source: "A", target: "B", data: { sourceHandle: { name: odd }, targetHandle: odd } }] } };
      for (const edge of edgesOf(flow)) {
        expect(typeof startOf(edge).port).toBe("string");
        expect(endOf(edge).port).toBe("");
        expect(edgeId(edge)).toContain("->");
      }
    }
  });
});

describe("an address", () => {
  it("that is cut off in the middle of a sign opens a view all the same", () => {
    expect(placeOf("#/flow/abc%")).toEqual({ view: "flow", id: "abc%", tab: null });
    expect(placeOf("#/settings/%E0%A4%A")).toEqual({ view: "settings", name: "%E0%A4%A" });
  });
});
