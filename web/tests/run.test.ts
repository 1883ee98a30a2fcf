import { beforeEach, expect, test } from "vitest";

import { withGraph } from "../src/flow/document";
import { move, remove, rename, setField } from "../src/flow/edit";
import { begin } from "../src/flow/history";
import { useFlow } from "../src/state/flow";
import { useRun } from "../src/state/run";
import { echo, edge } from "./flows";

const flow = () => withGraph(echo(), echo().data?.nodes ?? [], [edge("ChatInput-1", "ChatOutput-2")]);

beforeEach(() => {
  useFlow.setState({ id: "f", history: begin(flow()), saving: "saved" });
  useRun.setState({ failed: { node: "ChatOutput-2", message: "It broke." }, nodes: new Map([["ChatInput-1", "done"], ["ChatOutput-2", "failed"]]) });
});

test.each([
  ["a value", () => setField(flow(), "ChatOutput-2", "input_value", "new")],
  ["another component", () => setField(flow(), "ChatInput-1", "input_value", "new")],
  ["a connection", () => remove(flow(), new Set(), new Set(["ChatInput-1>ChatOutput-2"]))],
  ["the component itself", () => remove(flow(), new Set(["ChatOutput-2"]), new Set())],
])("a failed run is forgotten when %s was changed, by hand or taken back", (_, changed) => {
  useFlow.getState().change(changed());
  expect(useRun.getState().failed).toBeNull();
  expect([...useRun.getState().nodes]).toEqual([]);
});

test("a failed run stays failed when components only stand elsewhere, or the flow has another name", () => {
  useFlow.getState().change(move(useFlow.getState().history.present, new Map([["ChatOutput-2", { x: 9, y: 9 }]])));
  useFlow.getState().change({ ...useFlow.getState().history.present, name: "Other" });
  expect(useRun.getState().failed?.node).toBe("ChatOutput-2");
});

test("a turn that changes the flow takes the failure with it, and one that changes nothing does not", async () => {
  await useFlow.getState().turnBegins();
  useFlow.getState().turnEnds(flow(), 2);
  expect(useRun.getState().failed).not.toBeNull();
  await useFlow.getState().turnBegins();
  useFlow.getState().turnEnds(rename(flow(), "ChatOutput-2", "Answer"), 3);
  expect(useRun.getState().failed).toBeNull();
});
