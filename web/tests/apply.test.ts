import { describe, expect, test } from "vitest";

import type { FlowUpdate } from "../src/flow/apply";
import { applyUpdate } from "../src/flow/apply";
import { edgesOf, idOf, nodesOf } from "../src/flow/document";
import { echo, edge, node } from "./flows";

const update = (action: object) => ({ event: "flow_update", ...action }) as FlowUpdate;
const ids = (flow: ReturnType<typeof echo>) => nodesOf(flow).map(idOf);

describe("changes that stream", () => {
  test("a component joins with its edges, and leaves with them", () => {
    const joined = applyUpdate(echo(), update({ action: "add_component", node: node("Prompt-4"), edges: [edge("ChatInput-1", "Prompt-4")] }));
    expect(ids(joined)).toEqual(["ChatInput-1", "ChatOutput-2", "Agent-3", "Prompt-4"]);
    expect(edgesOf(joined)).toHaveLength(1);
    const left = applyUpdate(joined, update({ action: "remove_component", component_id: "Prompt-4" }));
    expect(left).toEqual(echo());
  });

  test("told twice, a change is made once", () => {
    const added = update({ action: "add_component", node: node("Prompt-4") });
    const connected = update({ action: "connect", edge: edge("ChatInput-1", "ChatOutput-2") });
    const once = [added, connected].reduce(applyUpdate, echo());
    expect([added, connected, added, connected].reduce(applyUpdate, echo())).toEqual(
      applyUpdate({ ...once }, update({ action: "connect", edge: edge("ChatInput-1", "ChatOutput-2") })),
    );
    expect(edgesOf(once)).toHaveLength(1);
  });

  test("the changed node replaces the old one, and all others stay the same objects", () => {
    const before = echo();
    const changed = node("ChatInput-1", { input_value: { value: "new" } });
    const after = applyUpdate(before, update({ action: "configure", component_id: "ChatInput-1", params: { input_value: "new" }, node: changed }));
    expect(nodesOf(after)[0]).toBe(changed);
    expect(nodesOf(after)[1]).toBe(nodesOf(before)[1]);
  });

  test("a place, the flow's name and a whole flow", () => {
    const moved = applyUpdate(echo(), update({ action: "arrange", component_id: "Agent-3", key: "position", value: { x: 5, y: 6 } }));
    expect(nodesOf(moved)[2]?.position).toEqual({ x: 5, y: 6 });
    expect(applyUpdate(echo(), update({ action: "set_detail", path: ["data", "viewport"], value: { x: 1 } })).data?.viewport).toEqual({ x: 1 });
    expect(applyUpdate(echo(), update({ action: "set_detail", path: ["name"], value: null }))).not.toHaveProperty("name");
    expect(applyUpdate(echo(), update({ action: "set_flow", flow: { name: "Other" }, auto_apply: true }))).toEqual({ name: "Other" });
  });

  test.each([
    { action: "set_flow", flow: { name: "Other" }, auto_apply: false },
    { action: "propose_plan", id: "p", markdown: "" },
    { action: "edit_field", id: "e", component_id: "ChatInput-1" },
  ])("what is only proposed changes nothing: $action", (action) => {
    const flow = echo();
    expect(applyUpdate(flow, update(action))).toBe(flow);
  });
});
