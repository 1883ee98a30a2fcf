/** Places for nodes: layers from left to right, in rows that fit a screen. */

import { Graph, layout } from "@dagrejs/dagre";

import type { FlowDocument } from "../api/contract";
import { edgesOf, idOf, nodesOf } from "./document";
import type { Point } from "./edit";

export interface Size {
  width: number;
  height: number;
}

/** How wide a row may be before the next layers start below it. */
export const ROW_WIDTH = 1_800;

const GAP = 72;

/** A place for each node of a flow.
 * @param sizeOf - how large a node is drawn.
 */
export function arrange(flow: FlowDocument, sizeOf: (id: string) => Size): Map<string, Point> {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: GAP / 2, ranksep: GAP });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = nodesOf(flow).map(idOf);
  for (const id of ids) graph.setNode(id, { ...sizeOf(id) });
  for (const edge of edgesOf(flow)) {
    if (graph.hasNode(edge.source) && graph.hasNode(edge.target)) graph.setEdge(edge.source, edge.target);
  }
  layout(graph);
  const placed = ids.map((id) => {
    const { x, y } = graph.node(id) as Point;
    const { width, height } = sizeOf(id);
    return { id, x: x - width / 2, y: y - height / 2, width, height };
  });
  return wrapped(placed);
}

interface Placed extends Point, Size {
  id: string;
}

/** Layers beyond the width of a row stand in the next row. */
function wrapped(placed: readonly Placed[]): Map<string, Point> {
  const layers = new Map<number, Placed[]>();
  for (const one of placed) {
    const middle = Math.round(one.x + one.width / 2);
    layers.set(middle, [...(layers.get(middle) ?? []), one]);
  }
  const found = new Map<string, Point>();
  let [left, top, bottom] = [0, 0, 0];
  for (const [, layer] of [...layers].sort(([one], [other]) => one - other)) {
    const width = Math.max(...layer.map((one) => one.width));
    if (left > 0 && left + width > ROW_WIDTH) [left, top] = [0, bottom + GAP * 2];
    const highest = Math.min(...placed.map((one) => one.y));
    for (const one of layer) {
      const y = top + one.y - highest;
      found.set(one.id, { x: left + (width - one.width) / 2, y });
      bottom = Math.max(bottom, y + one.height);
    }
    left += width + GAP;
  }
  return found;
}
