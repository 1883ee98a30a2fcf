/** Components as text: what copying gives, and what pasting takes, which is any export of a flow as well. */

import type { EdgeDocument, FlowDocument, NodeDocument } from "../api/contract";
import { edgeBetween } from "./connect";
import { definitionOf, edgesOf, endOf, idOf, nodesOf, startOf, typeOf, withGraph } from "./document";
import { freshId, withId, withOwnIds } from "./ids";
import type { Point } from "./edit";

/** The chosen components and the connections between them, as JSON without secrets. */
export function copied(flow: FlowDocument, chosen: ReadonlySet<string>): string {
  const nodes = nodesOf(flow).filter((node) => chosen.has(idOf(node))).map(withoutSecrets);
  const edges = edgesOf(flow).filter((edge) => chosen.has(edge.source) && chosen.has(edge.target));
  return JSON.stringify({ name: flow.name ?? "", data: { nodes, edges } }, null, 1);
}

/** The flows in a text, which is an export, a list of them, or one with several; none in other texts. */
export function flowsIn(text: string): FlowDocument[] {
  if (!/^\s*[[{]/.test(text)) return [];
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return []; // a text that only begins like JSON
  }
  const several = Array.isArray(found) ? found : (found as { flows?: unknown }).flows;
  const flows: unknown[] = Array.isArray(several) ? several : [found];
  return flows.length > 0 && flows.every(isFlow) ? flows : [];
}

function isFlow(found: unknown): found is FlowDocument {
  if (typeof found !== "object" || found === null) return false;
  const flow = found as FlowDocument;
  const nodes: unknown = flow.data?.nodes ?? flow.nodes;
  const edges: unknown = flow.data?.edges ?? flow.edges ?? [];
  if (!Array.isArray(nodes) || !Array.isArray(edges)) return false;
  const isNode = (node: unknown) => typeof node === "object" && node !== null && typeof (node as NodeDocument).data === "object";
  return nodes.length > 0 && nodes.every(isNode);
}

/** A flow with the components of others.
 *
 * `ids` are those that they have now; `shared` counts those of the others that had an id which another one has too.
 */
export interface Pasted {
  flow: FlowDocument;
  ids: Set<string>;
  shared: number;
}

/** How far components of one flow stand from those of the next. */
const BESIDE = 400;

/** A flow with the components of others under ids of their own: side by side, the top left corner of the first at a point. */
export function pasted(flow: FlowDocument, others: readonly FlowDocument[], at: Point): Pasted {
  let made = flow;
  let left = at.x;
  let shared = 0;
  const before = new Set(nodesOf(flow).map(idOf));
  const taken = new Set(before);
  const all = new Set<string>();
  for (const other of others) {
    const [whole, renewed] = withOwnIds(other);
    shared += renewed + nodesOf(whole).filter((node) => before.has(idOf(node))).length;
    const xs = nodesOf(whole).map((node) => node.position?.["x"] ?? 0);
    const ys = nodesOf(whole).map((node) => node.position?.["y"] ?? 0);
    const [dx, dy] = [left - Math.min(...xs), at.y - Math.min(...ys)];
    const ids = new Map<string, string>();
    const copies = nodesOf(whole).map((node) => {
      const id = freshId(taken, typeOf(node));
      taken.add(id);
      before.add(idOf(node));
      ids.set(idOf(node), id);
      const { x = 0, y = 0 } = node.position ?? {};
      const copy: NodeDocument = { ...withId(structuredClone(node), id), position: { x: x + dx, y: y + dy } };
      for (const key of ["selected", "dragging", "measured"]) Reflect.deleteProperty(copy, key);
      return copy;
    });
    made = withGraph(made, [...nodesOf(made), ...copies], edgesOf(made));
    const edges = edgesOf(whole).flatMap((edge) => rewired(made, edge, ids));
    made = withGraph(made, nodesOf(made), [...edgesOf(made), ...edges]);
    for (const id of ids.values()) all.add(id);
    left += Math.max(...xs) - Math.min(...xs) + BESIDE;
  }
  return { flow: made, ids: all, shared };
}

function rewired(flow: FlowDocument, edge: EdgeDocument, ids: ReadonlyMap<string, string>): EdgeDocument[] {
  const [source, target] = [ids.get(edge.source), ids.get(edge.target)];
  const [start, end] = [startOf(edge), endOf(edge)];
  if (source === undefined || target === undefined || start.port === "" || end.port === "") return [];
  return [edgeBetween(flow, { node: source, port: start.port }, { node: target, port: end.port })];
}

/** A component as it may leave the page: keys that were typed in stay where they are; names of variables are none. */
export function withoutSecrets(node: NodeDocument): NodeDocument {
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
