/** What the canvas draws of a flow: nodes and edges, those that are only proposed, and what a run has carried. */

import type { NodeChange, NodeProps } from "@xyflow/react";

import type { FlowDocument, NodeDocument } from "../api/contract";
import { edgeKey, placed } from "../flow/difference";
import type { Difference, FieldChange } from "../flow/difference";
import { edgeId, edgesOf, endOf, idOf, isNote, nodesOf, outputsOf, startOf, titleOf } from "../flow/document";
import { noteSize } from "../flow/edit";
import type { NodeState } from "../state/run";
import type { CanvasNode } from "./FlowNode";
import type { CanvasGhost } from "./GhostNode";
import type { CanvasNote } from "./NoteNode";
import type { CanvasEdge } from "./Wire";
import { colourOf } from "./colours";
import { MANY, estimated } from "./estimate";

export type AnyNode = CanvasNode | CanvasNote | CanvasGhost;

const NONE: readonly FieldChange[] = [];

/** The nodes to draw; those that are as they were keep their identity, so that only changed ones are drawn anew. */
export function drawn(flow: FlowDocument, changed: ReadonlySet<string>, waits: Difference, before: AnyNode[]): AnyNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  const connected = connections(flow, waits);
  const isMany = nodesOf(flow).length + waits.added.length > MANY;
  const own = nodesOf(flow).map((document): AnyNode => {
    const id = idOf(document);
    const old = known.get(id);
    const data = {
      document,
      isChanged: changed.has(id),
      connected: connected.get(id) ?? "",
      fate: waits.removed.has(id) ? ("removed" as const) : null,
      changes: waits.changed.get(id) ?? NONE,
    };
    if (old !== undefined && old.type !== "ghost" && isSame(old.data, data)) return old;
    const { x, y } = placeOf(document);
    const size = old?.measured === undefined ? (isMany ? estimated(document, namesIn(data.connected)) : {}) : { measured: old.measured };
    const same = { id, position: { x, y }, data, ...(old?.selected === true ? { selected: true } : {}), ...size };
    return isNote(document) ? { ...same, type: "note", ...sizeOf(document) } : { ...same, type: "component" };
  });
  const places = placed(flow, waits.added);
  const taken = new Set(own.map((node) => node.id));
  const ghosts = waits.added.filter((node) => !taken.has(idOf(node))).map((document): CanvasGhost => {
    const id = idOf(document);
    const old = known.get(id);
    const data = { document, isChanged: false, connected: connected.get(id) ?? "", fate: "added" as const, changes: NONE };
    if (old?.type === "ghost" && isSame(old.data, data)) return old;
    const still = { draggable: false, selectable: false, connectable: false, deletable: false, focusable: false };
    return { id, type: "ghost", position: places.get(id) ?? { x: 0, y: 0 }, data, className: "ghost", ...still };
  });
  return [...own, ...ghosts];
}

/** Nodes without the estimates of those that have been measured meanwhile. */
export function measured(nodes: AnyNode[], changes: readonly NodeChange<AnyNode>[]): AnyNode[] {
  const ids = new Set(changes.flatMap((one) => (one.type === "dimensions" ? [one.id] : [])));
  if (ids.size === 0) return nodes;
  return nodes.map((node) => {
    if (node.handles === undefined || !ids.has(node.id)) return node;
    const known = { ...node };
    Reflect.deleteProperty(known, "handles");
    return known;
  });
}

/** Whether two states of a component look the same: where it stands and that it is dragged is not drawn by itself. */
export function isDrawnAlike(one: NodeProps<AnyNode>, other: NodeProps<AnyNode>): boolean {
  return one.id === other.id && one.data === other.data && one.selected === other.selected;
}

/** The names in a text that has one on each line. */
export function namesIn(lines: string): Set<string> {
  return new Set(lines === "" ? [] : lines.split("\n"));
}

/** How large a note is drawn; as high as its text needs where nothing says so. */
function sizeOf(note: NodeDocument): { width: number; height?: number } {
  const { width, height } = noteSize(note);
  return height === undefined ? { width } : { width, height };
}

/** How far from the origin a component may stand: beyond, browsers cannot draw lines to it. */
const FARTHEST = 1_000_000;

/** Where a component stands; at the origin what says no numbers, and as far as can be drawn what stands farther. */
function placeOf({ position }: NodeDocument): { x: number; y: number } {
  const { x, y } = (position ?? {}) as { x?: unknown; y?: unknown };
  return { x: drawable(x), y: drawable(y) };
}

function drawable(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? Math.max(-FARTHEST, Math.min(FARTHEST, value)) : 0;
}

interface Drawn {
  document: NodeDocument;
  isChanged: boolean;
  connected: string;
  fate: string | null;
  changes: readonly FieldChange[];
}

function isSame(one: Drawn, other: Drawn): boolean {
  return (
    one.document === other.document &&
    one.isChanged === other.isChanged &&
    one.connected === other.connected &&
    one.fate === other.fate &&
    (one.changes === other.changes || JSON.stringify(one.changes) === JSON.stringify(other.changes))
  );
}

/** The fields at which edges end, by node: the names, each on a line. */
function connections(flow: FlowDocument, waits: Difference): Map<string, string> {
  const found = new Map<string, string>();
  for (const edge of [...edgesOf(flow), ...waits.addedEdges]) {
    const { node, port } = endOf(edge);
    const before = found.get(node);
    found.set(node, before === undefined ? port : `${before}\n${port}`);
  }
  return found;
}

export interface Ran {
  nodes: ReadonlyMap<string, NodeState>;
  values: ReadonlyMap<string, unknown>;
}

/** The edges to draw; those that look as before keep their identity. */
export function drawnEdges(flow: FlowDocument, selected: ReadonlySet<string>, waits: Difference, ran: Ran, before: ReadonlyMap<string, CanvasEdge>): CanvasEdge[] {
  const nodes = new Map([...nodesOf(flow), ...waits.added].map((node) => [idOf(node), node]));
  const edges = [
    ...edgesOf(flow).map((edge) => ({ edge, fate: waits.removedEdges.has(edgeKey(edge)) ? "removed" : "" })),
    ...waits.addedEdges.map((edge) => ({ edge, fate: "added" })),
  ];
  const seen = new Set<string>();
  return edges.flatMap(({ edge, fate }) => {
    const [start, end] = [startOf(edge), endOf(edge)];
    const [source, target] = [nodes.get(start.node), nodes.get(end.node)];
    const id = edgeId(edge);
    if (source === undefined || target === undefined || seen.has(id)) return [];
    seen.add(id);
    const outputs = outputsOf(source);
    const types = outputs.find((output) => output.name === start.port)?.types;
    const value = valueAt(ran.values.get(start.node), start.port, outputs.length);
    const look = [fate, movement(ran.nodes.get(start.node), ran.nodes.get(end.node))].filter(Boolean).join(" ");
    const made: CanvasEdge = {
      id,
      type: "wire",
      source: start.node,
      target: end.node,
      sourceHandle: start.port,
      targetHandle: end.port,
      selected: selected.has(id),
      className: look,
      style: { stroke: colourOf(types) },
      data: { value, name: `${titleOf(source)} → ${titleOf(target)}` },
      ...(fate === "added" ? { selectable: false, deletable: false, focusable: false } : {}),
    };
    const old = before.get(id);
    return old !== undefined && looksSame(old, made) ? [old] : [made];
  });
}

function looksSame(one: CanvasEdge, other: CanvasEdge): boolean {
  return (
    one.source === other.source &&
    one.target === other.target &&
    one.sourceHandle === other.sourceHandle &&
    one.targetHandle === other.targetHandle &&
    one.selected === other.selected &&
    one.className === other.className &&
    one.style?.stroke === other.style?.stroke &&
    one.data?.value === other.data?.value &&
    one.data?.name === other.data?.name
  );
}

function movement(source: NodeState | undefined, target: NodeState | undefined): string {
  if (source === "done" && target === "running") return "flowing";
  return source === "done" && target !== undefined ? "passed" : "";
}

/** What an output gave: a component with several outputs gives an object by port. */
export function valueAt(given: unknown, port: string, outputs: number): unknown {
  const isByPort = outputs > 1 && typeof given === "object" && given !== null && port in given;
  return isByPort ? (given as Record<string, unknown>)[port] : given;
}
