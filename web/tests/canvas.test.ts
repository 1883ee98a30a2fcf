import { expect, test } from "vitest";

import { flowsIn, pasted } from "../src/flow/clipboard";
import { difference, isSame } from "../src/flow/difference";
import { nodesOf } from "../src/flow/document";
import { connect, remove, setField } from "../src/flow/edit";
import { indented } from "../src/flow/indent";
import { kindOf, summaryOf } from "../src/flow/kinds";
import { echo } from "./flows";

const FROM = { node: "ChatInput-1", port: "message" };
const TO = { node: "ChatOutput-2", port: "input_value" };

test("a difference says what is added, removed and changed, and nothing of what is the same", () => {
  expect(isSame(difference(echo(), echo()))).toBe(true);
  const after = setField(remove(connect(echo(), FROM, TO), new Set(["Agent-3"]), new Set()), "ChatInput-1", "input_value", "new");
  const found = difference(echo(), after);
  expect([...found.removed]).toEqual(["Agent-3"]);
  expect(found.addedEdges).toHaveLength(1);
  expect(found.changed.get("ChatInput-1")).toEqual([{ field: "input_value", label: "Text", before: "", after: "new" }]);
  expect(difference(after, echo()).added.map((node) => node.id)).toEqual(["Agent-3"]);
});

test("what is pasted has ids of its own, and text that is no flow is left alone", () => {
  const { flow: made, ids } = pasted(echo(), [connect(echo(), FROM, TO)], { x: 10, y: 20 });
  expect(new Set(nodesOf(made).map((node) => node.id)).size).toBe(6);
  expect(ids.size).toBe(3);
  expect(made.data?.edges).toHaveLength(1);
  expect(["hello", "{}", "{broken", "[]", "[1]"].map(flowsIn)).toEqual([[], [], [], [], []]);
  expect(flowsIn(JSON.stringify({ flows: [echo(), echo()] }))).toHaveLength(2);
});

test("the Tab key indents lines and takes it back", () => {
  const once = indented("a\nb", 0, 3, false);
  expect(once.text).toBe("    a\n    b");
  expect(indented(once.text, once.start, once.end, true).text).toBe("a\nb");
});

test("each kind of field has its editor, and a model its name", () => {
  expect(kindOf({ name: "a", type: "table" })).toBe("table");
  expect(kindOf({ name: "a", type: "str", list: true, options: ["x"] })).toBe("choices");
  expect(kindOf({ name: "a", type: "other", value: "" })).toBe("port");
  expect(summaryOf([{ name: '[{"name": "gpt-4o", "provider": "OpenAI"}]' }])).toBe("OpenAI: gpt-4o");
});
