import { describe, expect, test } from "vitest";

import type { FlowDocument } from "../src/api/contract";
import { isAlike } from "../src/flow/alike";
import { difference, isSame } from "../src/flow/difference";
import { edgesOf, idOf, nodesOf, withGraph } from "../src/flow/document";
import { connect, move, remove, rename, setField } from "../src/flow/edit";
import { merge } from "../src/flow/merge";
import { INPUT, OUTPUT, echo, edge, node } from "./flows";

const CHAT = "ChatInput-1";
const base = (): FlowDocument => withGraph(echo(), nodesOf(echo()), [edge(CHAT, "ChatOutput-2")]);
const valueOf = (flow: FlowDocument, id: string, field = "input_value") =>
  (nodesOf(flow).find((one) => idOf(one) === id)?.data?.["node"] as { template: Record<string, { value: unknown }> }).template[field]?.value;
const changes: [string, (flow: FlowDocument) => FlowDocument][] = [
  ["a value", (flow) => setField(flow, CHAT, "input_value", "new")],
  ["a title", (flow) => rename(flow, "Agent-3", "Helper")],
  ["a place", (flow) => move(flow, new Map([["Agent-3", { x: 7, y: 8 }]]))],
  ["a removal", (flow) => remove(flow, new Set(["ChatOutput-2"]), new Set())],
  ["a connection that goes", (flow) => withGraph(flow, nodesOf(flow), [])],
  ["a component", (flow) => withGraph(flow, [...nodesOf(flow), node("Prompt-4")], edgesOf(flow))],
  ["the name", (flow) => ({ ...flow, name: "Other" })],
  ["nothing", (flow) => flow],
];

describe("changes of two people", () => {
  test.each(changes)("what only one of them changed is taken: %s", (_, change) => {
    const [mine, theirs] = [merge(base(), change(base()), base()), merge(base(), base(), change(base()))];
    expect([...mine.clashes, ...theirs.clashes]).toEqual([]);
    expect(isAlike(mine.flow, change(base()))).toBe(true);
    expect(isAlike(theirs.flow, change(base()))).toBe(true);
  });

  test.each(changes)("what both changed alike is no clash: %s", (_, change) => {
    const both = merge(base(), change(base()), change(base()));
    expect([...both.clashes]).toEqual([]);
    expect(isAlike(both.flow, change(base()))).toBe(true);
  });

  test.each(changes.flatMap(([one, mine], at) => changes.slice(at + 1).map(([other, theirs]) => [one, other, mine, theirs] as const)))(
    "%s and %s are both there, in whichever order",
    (_, __, mine, theirs) => {
      const [here, there] = [merge(base(), mine(base()), theirs(base())), merge(base(), theirs(base()), mine(base()))];
      expect([...here.clashes, ...there.clashes]).toEqual([]);
      expect(isSame(difference(here.flow, there.flow))).toBe(true);
      expect(isSame(difference(here.flow, theirs(mine(base()))))).toBe(true);
    },
  );

  test("a field that both changed differently is decided", () => {
    const [mine, theirs] = ["mine", "theirs"].map((value) => setField(base(), CHAT, "input_value", value)) as [FlowDocument, FlowDocument];
    expect([...merge(base(), mine, theirs).clashes]).toEqual([CHAT]);
    for (const whose of ["mine", "theirs"] as const) expect(valueOf(merge(base(), mine, theirs, new Map([[CHAT, whose]])).flow, CHAT)).toBe(whose);
  });

  test("other fields of the same component do not clash", () => {
    const mine = setField(base(), CHAT, "input_value", "mine");
    const both = merge(base(), mine, rename(base(), CHAT, "Question"));
    expect([...both.clashes]).toEqual([]);
    expect(valueOf(both.flow, CHAT)).toBe("mine");
    expect(isSame(difference(both.flow, rename(mine, CHAT, "Question")))).toBe(true);
  });

  test("a component that one removed and the other changed is decided, with its connections", () => {
    const removed = remove(base(), new Set([CHAT]), new Set());
    const changed = setField(base(), CHAT, "input_value", "new");
    for (const [mine, theirs, keeps] of [
      [removed, changed, "theirs"],
      [changed, removed, "mine"],
    ] as const) {
      expect([...merge(base(), mine, theirs).clashes]).toEqual([CHAT]);
      const kept = merge(base(), mine, theirs, new Map([[CHAT, keeps]])).flow;
      expect(isSame(difference(changed, kept))).toBe(true);
      const gone = merge(base(), mine, theirs, new Map([[CHAT, keeps === "mine" ? "theirs" : "mine"]])).flow;
      expect(isSame(difference(removed, gone))).toBe(true);
    }
  });

  test("two connections to an input that takes one are a clash of its component", () => {
    const more = [node("TextInput-4", {}, [OUTPUT]), node("ChatOutput-5", { input_value: INPUT }, [])];
    const start = withGraph(base(), [...nodesOf(base()), ...more], []);
    const to = { node: "ChatOutput-5", port: "input_value" };
    const [mine, theirs] = [CHAT, "TextInput-4"].map((from) => connect(start, { node: from, port: "message" }, to)) as [FlowDocument, FlowDocument];
    expect([...merge(start, mine, theirs).clashes]).toEqual(["ChatOutput-5"]);
    for (const [whose, source] of [["mine", CHAT], ["theirs", "TextInput-4"]] as const) {
      expect(edgesOf(merge(start, mine, theirs, new Map([["ChatOutput-5", whose]])).flow).map((one) => one.source)).toEqual([source]);
    }
  });

  test("names of fields that objects have by themselves are names", () => {
    const odd = (value: string) => JSON.parse(`{"__proto__": {"value": "${value}"}, "constructor": {"value": "too"}}`) as Record<string, unknown>;
    const flow = (value: string): FlowDocument => ({ name: "F", data: { nodes: [node("A-1", odd(value))], edges: [] } });
    const both = merge(flow("old"), { ...flow("old"), name: "G" }, flow("new"));
    expect([...both.clashes]).toEqual([]);
    expect(JSON.stringify(nodesOf(both.flow))).toContain('"__proto__":{"value":"new"}');
    expect(both.flow.name).toBe("G");
  });
});
