/** A proposed flow put beside what is on the canvas, instead of in its place. */

import type { FlowDocument, NodeDocument } from "../api/contract";
import { edgesOf, idOf, nodesOf, withGraph } from "../flow/document";

const GAP = 120;
const USUAL_HEIGHT = 400;

/** The flow with another one under it; ids that are taken get a number. */
export function withFlow(flow: FlowDocument, added: FlowDocument): FlowDocument {
  const taken = new Set(nodesOf(flow).map(idOf));
  const ids = new Map<string, string>();
  for (const node of nodesOf(added)) {
    const id = idOf(node);
    let free = id;
    for (let number = 2; taken.has(free); number += 1) free = `${id}-${number}`;
    taken.add(free);
    ids.set(id, free);
  }
  const bottom = Math.max(0, ...nodesOf(flow).map((node) => (node.position?.["y"] ?? 0) + USUAL_HEIGHT));
  const left = Math.min(...nodesOf(flow).map((node) => node.position?.["x"] ?? 0));
  const top = Math.min(...nodesOf(added).map((node) => node.position?.["y"] ?? 0));
  const start = Math.min(...nodesOf(added).map((node) => node.position?.["x"] ?? 0));
  const [x, y] = nodesOf(flow).length === 0 ? [0, 0] : [left - start, bottom + GAP - top];
  const nodes = nodesOf(added).map((node): NodeDocument => {
    const id = ids.get(idOf(node)) ?? idOf(node);
    const position = { x: (node.position?.["x"] ?? 0) + x, y: (node.position?.["y"] ?? 0) + y };
    return { ...node, id, position, data: { ...node.data, id } };
  });
  const edges = edgesOf(added).map((edge) => {
    const renamed = renamedIds(edge, ids);
    return { ...renamed, source: ids.get(edge.source) ?? edge.source, target: ids.get(edge.target) ?? edge.target };
  });
  return withGraph(flow, [...nodesOf(flow), ...nodes], [...edgesOf(flow), ...edges]);
}

/** A copy in which every text that is, or names inside of a handle, an old id has the new one. */
function renamedIds<T>(value: T, ids: ReadonlyMap<string, string>): T {
  let text = JSON.stringify(value);
  for (const [old, fresh] of ids) if (old !== fresh) text = text.replaceAll(old, fresh);
  return JSON.parse(text) as T;
}
