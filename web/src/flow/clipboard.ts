/** Components as text: what copying gives, and what pasting takes, which is any export of a flow as well. */

import type { EdgeDocument, FlowDocument, NodeDocument } from "../api/contract";
import { edgeBetween } from "./connect";
import { definitionOf, edgesOf, endOf, idOf, nodesOf, startOf, typeOf, withGraph } from "./document";
import { freshId } from "./edit";
import type { Point } from "./edit";

/** The chosen components and the connections between them, as JSON without secrets. */
export function copied(flow: FlowDocument, chosen: ReadonlySet<string>): string {
  const nodes = nodesOf(flow).filter((node) => chosen.has(idOf(node))).map(withoutSecrets);
  const edges = edgesOf(flow).filter((edge) => chosen.has(edge.source) && chosen.has(edge.target));
  return JSON.stringify({ name: flow.name ?? "", data: { nodes, edges } }, null, 1);
}

/** The flow in a text; null for other texts. */
export function flowIn(text: string): FlowDocument | null {
  if (!/^\s*\{/.test(text)) return null;
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return null; // a text that only begins like JSON
  }
  const flow = found as FlowDocument;
  const nodes: unknown = flow.data?.nodes ?? flow.nodes;
  const edges: unknown = flow.data?.edges ?? flow.edges ?? [];
  if (!Array.isArray(nodes) || !Array.isArray(edges)) return null;
  const isNode = (node: unknown) => typeof node === "object" && node !== null && typeof (node as NodeDocument).data === "object";
  return nodes.length > 0 && nodes.every(isNode) ? flow : null;
}

/** A flow with the components of another one, under ids of their own, their top left corner at a point. */
export function pasted(flow: FlowDocument, other: FlowDocument, at: Point): [FlowDocument, Set<string>] {
  const xs = nodesOf(other).map((node) => node.position?.["x"] ?? 0);
  const ys = nodesOf(other).map((node) => node.position?.["y"] ?? 0);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const ids = new Map<string, string>();
  let made = flow;
  for (const node of nodesOf(other)) {
    const id = freshId(made, typeOf(node));
    ids.set(idOf(node), id);
    const { x = 0, y = 0 } = node.position ?? {};
    const copy: NodeDocument = { ...structuredClone(node), id, position: { x: at.x + x - left, y: at.y + y - top } };
    copy.data = { ...copy.data, id };
    for (const key of ["selected", "dragging", "measured"]) Reflect.deleteProperty(copy, key);
    made = withGraph(made, [...nodesOf(made), copy], edgesOf(made));
  }
  const edges = edgesOf(other).flatMap((edge) => rewired(made, edge, ids));
  return [withGraph(made, nodesOf(made), [...edgesOf(made), ...edges]), new Set(ids.values())];
}

function rewired(flow: FlowDocument, edge: EdgeDocument, ids: ReadonlyMap<string, string>): EdgeDocument[] {
  const [source, target] = [ids.get(edge.source), ids.get(edge.target)];
  const [start, end] = [startOf(edge), endOf(edge)];
  if (source === undefined || target === undefined || start.port === "" || end.port === "") return [];
  return [edgeBetween(flow, { node: source, port: start.port }, { node: target, port: end.port })];
}

/** The clipboard can be read by other programs, so secrets stay where they are; names of variables are none. */
function withoutSecrets(node: NodeDocument): NodeDocument {
  const definition = definitionOf(node);
  const template = Object.fromEntries(
    Object.entries(definition.template).map(([name, field]) => {
      const { password, load_from_db, value } = (typeof field === "object" && field !== null ? field : {}) as Record<string, unknown>;
      const isSecret = password === true && load_from_db !== true && value !== "";
      return [name, isSecret ? { ...(field as object), value: "" } : field];
    }),
  );
  return { ...node, data: { ...node.data, node: { ...definition, template } } };
}
