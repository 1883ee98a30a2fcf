import { beforeEach, expect, test, vi } from "vitest";

import { withConfigured } from "../src/flow/configured";
import { isAlike } from "../src/flow/alike";
import { definitionOf, idOf, nodesOf, withGraph } from "../src/flow/document";
import { begin } from "../src/flow/history";
import { useFlow } from "../src/state/flow";
import { echo, node } from "./flows";

beforeEach(() => useFlow.setState({ id: "f", history: begin(echo()), saving: "saved" }));

const MOVED = { event: "flow_update", action: "remove_component", component_id: "Agent-3" } as const;

test("a turn that changes nothing leaves nothing to undo, however the server writes the flow", async () => {
  await useFlow.getState().turnBegins();
  const { name, ...rest } = echo();
  useFlow.getState().turnEnds({ ...rest, ...(name === undefined ? {} : { name }) }, 2);
  expect(useFlow.getState().history.past).toEqual([]);
});

test("a turn that changes nothing leaves what can be made again", async () => {
  useFlow.getState().change({ ...echo(), name: "Other" });
  useFlow.getState().undo();
  useFlow.setState({ saving: "saved" });
  await useFlow.getState().turnBegins();
  useFlow.getState().turnEnds(echo(), 2);
  expect(useFlow.getState().history.future).toHaveLength(1);
});

test("all that a turn changes is one step", async () => {
  await useFlow.getState().turnBegins();
  useFlow.getState().turnChanges({ ...MOVED });
  useFlow.getState().turnChanges({ ...MOVED, component_id: "ChatOutput-2" });
  useFlow.getState().turnEnds(useFlow.getState().history.present, 2);
  expect(useFlow.getState().history.past).toHaveLength(1);
  useFlow.getState().undo();
  expect(nodesOf(useFlow.getState().history.present)).toHaveLength(3);
});

test("a turn whose end alone brings a change is one step, and one that took its change back is none", async () => {
  await useFlow.getState().turnBegins();
  useFlow.getState().turnEnds({ ...echo(), name: "Renamed" }, 2);
  expect(useFlow.getState().history.past).toHaveLength(1);
  useFlow.setState({ history: begin(echo()), saving: "saved" });
  await useFlow.getState().turnBegins();
  useFlow.getState().turnChanges({ ...MOVED });
  useFlow.getState().turnEnds(echo(), 2);
  expect(useFlow.getState().history.past).toEqual([]);
});

test("what is missing is as nothing, and a list is no object", () => {
  expect(isAlike({ a: 1, b: null }, { a: 1 })).toBe(true);
  expect([isAlike([1], { 0: 1 }), isAlike([1, 2], [2, 1]), isAlike({ a: "" }, {})]).toEqual([false, false, false]);
});

test("a field of any name is kept when the server configures its component", () => {
  const odd = JSON.parse('{"__proto__": {"value": "kept"}, "constructor": {"value": "too"}}') as Record<string, unknown>;
  const [sent, made] = [node("A-1", {}), node("A-1", odd)];
  const [after] = nodesOf(withConfigured({ name: "F", data: { nodes: [sent], edges: [] } }, sent, made, {}));
  expect(Object.keys(definitionOf(after ?? sent).template)).toEqual(["__proto__", "constructor"]);
  const changed = node("A-1", odd);
  const [again] = nodesOf(withConfigured({ name: "F", data: { nodes: [changed], edges: [] } }, sent, node("A-1", {}), {}));
  expect(Object.keys(definitionOf(again ?? sent).template)).toEqual(["__proto__", "constructor"]);
});

test("a turn that brings what somebody else has stored takes no change that was made by hand meanwhile, nor theirs", async () => {
  const theirs = { ...withGraph(echo(), nodesOf(echo()).filter((one) => idOf(one) !== "Agent-3"), []), description: "theirs" };
  useFlow.setState({ version: 1, stored: echo() });
  await useFlow.getState().turnBegins();
  useFlow.getState().turnChanges({ ...MOVED });
  useFlow.getState().change({ ...useFlow.getState().history.present, name: "Mine" });
  useFlow.getState().turnEnds(theirs, 3);
  const { history, version, stored, saving } = useFlow.getState();
  expect(history.present).toMatchObject({ name: "Mine", description: "theirs" });
  expect(nodesOf(history.present).map(idOf)).not.toContain("Agent-3");
  expect({ version, stored, saving }).toEqual({ version: 3, stored: theirs, saving: "unsaved" });
});

test("a value that was written by hand over what the turn wrote stays, and nobody is asked", async () => {
  useFlow.setState({ version: 1, stored: echo(), merges: 0 });
  await useFlow.getState().turnBegins();
  useFlow.getState().turnChanges({ ...MOVED });
  useFlow.getState().change({ ...echo(), name: "Mine" });
  useFlow.getState().turnEnds(withGraph(echo(), nodesOf(echo()).filter((one) => idOf(one) !== "Agent-3"), []), 2);
  const { history, saving, merges } = useFlow.getState();
  expect(nodesOf(history.present).map(idOf)).toContain("Agent-3");
  expect({ saving, merges }).toEqual({ saving: "unsaved", merges: 0 });
});

test("an error of a turn that says a newer version moves to none of which the canvas has nothing", () => {
  useFlow.setState({ version: 1, stored: echo() });
  vi.stubGlobal("fetch", vi.fn().mockReturnValue(new Promise(() => undefined)));
  useFlow.getState().turnEnds(null, 3);
  expect(useFlow.getState().version).toBe(1);
});
