/** Ids of components: each has one of its own, or a canvas shows one of those that share it, and an engine runs one. */

import type { EdgeDocument, FlowDocument, NodeDocument } from "../api/contract";
import { edgeBetween } from "./connect";
import { edgesOf, endOf, fieldsOf, idOf, isPort, nodesOf, outputsOf, startOf, typeOf, withGraph } from "./document";
import type { End } from "./document";

/** An id such as Langflow gives: the type and five characters. */
export function freshId(taken: ReadonlySet<string>, type: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (;;) {
    const bytes = crypto.getRandomValues(new Uint8Array(5));
    const id = `${type}-${Array.from(bytes, (byte) => alphabet.charAt(byte % alphabet.length)).join("")}`;
    if (!taken.has(id)) return id;
  }
}

/** The component under another id. */
export function withId(node: NodeDocument, id: string): NodeDocument {
  return { ...node, id, data: { ...node.data, id } };
}

/** A flow in which no two components share an id, and how many have a new one.
 *
 * The first of those that share one keeps it. A connection goes to the first of them that has the port that it names.
 */
export function withOwnIds(flow: FlowDocument): [FlowDocument, number] {
  const nodes = nodesOf(flow);
  const taken = new Set(nodes.map(idOf));
  if (taken.size === nodes.length && !taken.has("")) return [flow, 0];
  const alike = new Map<string, NodeDocument[]>();
  let renewed = 0;
  const own = nodes.map((node) => {
    const before = idOf(node);
    const others = alike.get(before) ?? [];
    const isKept = others.length === 0 && before !== "";
    const made = isKept ? node : withId(node, freshId(taken, typeOf(node)));
    if (!isKept) renewed += 1;
    taken.add(idOf(made));
    alike.set(before, [...others, made]);
    return made;
  });
  const known = withGraph(flow, own, []);
  const edges = edgesOf(flow).map((edge) => moved(known, edge, alike));
  return [withGraph(flow, own, edges), renewed];
}

function moved(flow: FlowDocument, edge: EdgeDocument, alike: ReadonlyMap<string, NodeDocument[]>): EdgeDocument {
  const [start, end] = [startOf(edge), endOf(edge)];
  const from = holder(alike.get(start.node), start, (node) => outputsOf(node).map(({ name }) => name));
  const to = holder(alike.get(end.node), end, (node) => fieldsOf(node).filter(isPort).map(({ name }) => name));
  if (from === start.node && to === end.node) return edge;
  return { ...edge, ...edgeBetween(flow, { ...start, node: from }, { ...end, node: to }) };
}

/** The id of the first of some components that has a port. */
function holder(nodes: readonly NodeDocument[] = [], end: End, portsOf: (node: NodeDocument) => string[]): string {
  const found = nodes.find((node) => portsOf(node).includes(end.port)) ?? nodes[0];
  return found === undefined ? end.node : idOf(found);
}
