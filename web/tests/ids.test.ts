import { expect, test } from "vitest";

import { pasted } from "../src/flow/clipboard";
import { edgesOf, idOf, nodesOf, titleOf } from "../src/flow/document";
import { connect } from "../src/flow/edit";
import { withOwnIds } from "../src/flow/ids";
import { INPUT, OUTPUT, echo, node } from "./flows";

const FROM = { node: "ChatInput-1", port: "message" };
const TO = { node: "ChatOutput-2", port: "input_value" };

function ids(flow: ReturnType<typeof echo>): string[] {
  return nodesOf(flow).map(idOf);
}

test("a flow whose components have ids of their own is left as it is", () => {
  const flow = connect(echo(), FROM, TO);
  expect(withOwnIds(flow)).toEqual([flow, 0]);
  expect(withOwnIds(flow)[0]).toBe(flow);
});

test("components that share an id have one each, and connections go to the one that has the port", () => {
  const flow = connect(echo(), FROM, TO);
  const [input, output, agent] = nodesOf(flow);
  const same = (one: typeof input) => ({ ...one, id: "same-1", data: { ...one?.data, id: "same-1" } });
  const edges = edgesOf(flow).map((edge) => ({ ...edge, source: "same-1", target: "same-1" }));
  const [made, renewed] = withOwnIds({ name: "Twice", data: { nodes: [same(input), same(output), same(agent)], edges } });
  expect(renewed).toBe(2);
  expect(new Set(ids(made)).size).toBe(3);
  expect(nodesOf(made).map(titleOf)).toEqual(["ChatInput", "ChatOutput", "Agent"]);
  expect(nodesOf(made).every((one) => one.data?.["id"] === one.id)).toBe(true);
  const [edge] = edgesOf(made);
  expect([edge?.source, edge?.target]).toEqual([ids(made)[0], ids(made)[1]]);
  expect(edge?.targetHandle).toContain(ids(made)[1]);
});

test("flows whose components have the same ids are put beside each other, and none is lost", () => {
  const flow = connect(echo(), FROM, TO);
  const { flow: made, ids: added, shared } = pasted(flow, [flow, flow], { x: 100, y: 50 });
  expect(shared).toBe(6);
  expect(added.size).toBe(6);
  expect(new Set(ids(made)).size).toBe(9);
  expect(edgesOf(made)).toHaveLength(3);
  const places = nodesOf(made).slice(3).map((one) => one.position?.["x"]);
  expect(places[3]).toBeGreaterThan(Number(places[2]));
});

test("a file that holds an id twice gives two components, each with its connections", () => {
  const nodes = [node("A-1", {}, [OUTPUT]), node("A-1", { input_value: INPUT })];
  const edges = [{ source: "A-1", target: "A-1", data: { sourceHandle: { name: "message" }, targetHandle: { fieldName: "input_value" } } }];
  const { flow, shared } = pasted({ name: "", data: { nodes: [], edges: [] } }, [{ name: "", data: { nodes, edges } }], { x: 0, y: 0 });
  expect(shared).toBe(1);
  const [first, second] = ids(flow);
  expect(edgesOf(flow).map((edge) => [edge.source, edge.target])).toEqual([[first, second]]);
});
