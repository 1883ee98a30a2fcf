/** Flows for tests: two components that fit, and one whose input takes something else. */

import type { EdgeDocument, FlowDocument, NodeDocument } from "../src/api/contract";

export function node(id: string, fields: Record<string, unknown> = {}, outputs: unknown[] = []): NodeDocument {
  const type = id.split("-")[0] ?? id;
  return { id, type: "genericNode", position: { x: 0, y: 0 }, data: { id, type, node: { display_name: type, template: fields, outputs } } };
}

export const OUTPUT = { name: "message", display_name: "Chat Message", types: ["Message"] };
export const INPUT = { display_name: "Inputs", type: "str", input_types: ["Message", "Data"], value: "" };

export function echo(): FlowDocument {
  return {
    name: "Echo",
    data: {
      nodes: [
        node("ChatInput-1", { input_value: { display_name: "Text", type: "str", value: "", multiline: true } }, [OUTPUT]),
        node("ChatOutput-2", { input_value: INPUT, code: { type: "code", value: "class A: ..." } }, [OUTPUT]),
        node("Agent-3", { tools: { display_name: "Tools", type: "other", input_types: ["Tool"], list: true } }, []),
      ],
      edges: [],
    },
  };
}

export function edge(source: string, target: string, field = "input_value"): EdgeDocument {
  return { id: `${source}>${target}`, source, target, data: { sourceHandle: { name: "message" }, targetHandle: { fieldName: field } } };
}
