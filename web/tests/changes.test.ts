import { expect, test } from "vitest";

import type { Event } from "../src/api/contract";
import { afterEvent, message } from "../src/assistant/parts";
import { echo, edge, node } from "./flows";

const updates = (...actions: object[]) =>
  actions.reduce((one: ReturnType<typeof message>, action) => afterEvent(one, { event: "flow_update", ...action } as Event), message("m", "assistant"));
const rows = (...actions: object[]) => updates(...actions).parts.flatMap((part) => (part.kind === "changes" ? part.rows.map((row) => row.text) : []));
const ADD = { action: "add_component", node: node("ChatInput-1") };
const SET = { action: "configure", component_id: "ChatInput-1", params: { input_value: "x" } };

test("changes of the canvas are rows of the message, in their order", () => {
  const connect = { action: "connect", edge: edge("ChatInput-1", "ChatOutput-2") };
  expect(rows(ADD, SET, connect, { action: "remove_component", component_id: "Agent-3" })).toEqual([
    "Added ChatInput",
    "Set input_value of ChatInput-1",
    "Connected ChatInput-1 to ChatOutput-2.input_value",
    "Removed Agent-3",
  ]);
});

test("a change that is told again is the same row", () => {
  expect(rows(ADD, SET, ADD, SET)).toHaveLength(2);
});

test("a whole flow and a proposed change are no rows", () => {
  expect(rows({ action: "set_flow", flow: echo(), auto_apply: true }, { action: "edit_field", id: "e" }, { action: "propose_plan", id: "p" })).toEqual([]);
});

test("each message has rows of its own", () => {
  expect(updates(ADD).parts).toHaveLength(1);
  expect(updates(SET).parts).toHaveLength(1);
});
