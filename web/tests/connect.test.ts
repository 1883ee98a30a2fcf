import { expect, test } from "vitest";

import { edgeBetween, refusal, targets } from "../src/flow/connect";
import { endOf, nodesOf, startOf } from "../src/flow/document";
import { add, connect, duplicate, remove, rename, setField } from "../src/flow/edit";
import { OUTPUT, echo, node } from "./flows";

const FROM = { node: "ChatInput-1", port: "message" };
const TO = { node: "ChatOutput-2", port: "input_value" };

test("what fits is connected as Langflow writes it", () => {
  expect(refusal(echo(), FROM, TO)).toBeNull();
  const edge = edgeBetween(echo(), FROM, TO);
  expect([startOf(edge), endOf(edge)]).toEqual([FROM, TO]);
  expect(edge.sourceHandle).toBe("{œdataTypeœ:œChatInputœ,œidœ:œChatInput-1œ,œnameœ:œmessageœ,œoutput_typesœ:[œMessageœ]}");
});

test("each refusal has its reason", () => {
  const once = connect(echo(), FROM, TO);
  expect(refusal(echo(), FROM, { node: "ChatInput-1", port: "input_value" })).toEqual({ why: "self" });
  expect(refusal(echo(), FROM, { node: "Agent-3", port: "nothing" })).toEqual({ why: "unknown" });
  expect(refusal(echo(), FROM, { node: "ChatOutput-2", port: "code" })).toEqual({ why: "unknown" });
  expect(refusal(echo(), FROM, { node: "Agent-3", port: "tools" })).toEqual({
    why: "types",
    from: "Chat Message",
    gives: ["Message"],
    to: "Tools",
    takes: ["Tool"],
  });
  expect(refusal(once, FROM, TO)).toEqual({ why: "exists" });
  expect(refusal(once, { node: "Agent-3", port: "x" }, TO)).toEqual({ why: "unknown" });
});

test("every target that is offered is legal, and no other", () => {
  expect(targets(echo(), FROM).map(({ end }) => end)).toEqual([TO]);
  expect(targets(connect(echo(), FROM, TO), FROM)).toEqual([]);
});

test("changes by hand leave everything else as it was", () => {
  const before = echo();
  const after = setField(before, "ChatInput-1", "input_value", "hello");
  expect(nodesOf(after)[1]).toBe(nodesOf(before)[1]);
  expect(before).toEqual(echo());
  expect(JSON.stringify(rename(before, "Agent-3", "Helper"))).toContain('"display_name":"Helper"');
  expect(remove(connect(before, FROM, TO), new Set(["ChatOutput-2"]), new Set())).toEqual(remove(before, new Set(["ChatOutput-2"]), new Set()));
});

test("a new component and copies have ids of their own, and copies keep the edges between them", () => {
  const made = { ...node("Prompt", { _type: "Component" }), id: "" };
  const component = { type: "Prompt", node: made } as unknown as Parameters<typeof add>[1];
  const [added, id] = add(echo(), component, { x: 1, y: 2 });
  expect(id).toMatch(/^Prompt-[A-Za-z0-9]{5}$/);
  expect(nodesOf(added).at(-1)).toMatchObject({ id, position: { x: 1, y: 2 }, data: { id, type: "Prompt", node: { template: { _type: "Component" } } } });
  const [copied, ids] = duplicate(connect(echo(), FROM, TO), new Set(["ChatInput-1", "ChatOutput-2"]));
  expect(ids.size).toBe(2);
  expect(copied.data?.edges).toHaveLength(2);
  expect(new Set(nodesOf(copied).map((node) => node.id)).size).toBe(5);
});

test("targets are offered in the order in which they are likely: shown inputs, near ones, and what they lack", () => {
  const text = (more: object = {}) => ({ display_name: "Text", type: "str", input_types: ["Message"], value: "", ...more });
  const at = (x: number, y: number, fields: Record<string, unknown>, id: string) => ({ ...node(id, fields), position: { x, y } });
  const flow = {
    name: "Order",
    data: {
      nodes: [
        at(-400, 0, { behind: text() }, "Behind-1"),
        at(1200, 0, { far: text() }, "Far-2"),
        at(400, 0, { hidden: text({ advanced: true }), written: text({ value: "x" }), open: text(), needed: text({ required: true }) }, "Near-3"),
        { ...node("Start-4", {}, [OUTPUT]), position: { x: 0, y: 0 } },
      ],
      edges: [],
    },
  };
  const offered = targets(flow, { node: "Start-4", port: "message" }).map(({ end }) => end.port);
  expect(offered).toEqual(["needed", "open", "written", "far", "behind", "hidden"]);
});
