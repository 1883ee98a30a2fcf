/** What leads from one flow to another, as a canvas draws it: what is added, removed and changed. */

import type { EdgeDocument, FlowDocument, NodeDocument } from "../api/contract";
import { definitionOf, edgesOf, endOf, fieldsOf, idOf, labelOf, nodesOf, startOf, titleOf, withGraph } from "./document";
import type { Point } from "./edit";

export interface FieldChange {
  /** The field; empty for the title of the component. */
  field: string;
  label: string;
  before: unknown;
  after: unknown;
}

export interface Difference {
  added: NodeDocument[];
  removed: ReadonlySet<string>;
  changed: ReadonlyMap<string, FieldChange[]>;
  addedEdges: EdgeDocument[];
  /** The keys of edges, as `edgeKey` gives them. */
  removedEdges: ReadonlySet<string>;
}

export const NO_DIFFERENCE: Difference = { added: [], removed: new Set(), changed: new Map(), addedEdges: [], removedEdges: new Set() };

/** An edge by its two ends; ids of edges differ between programs that write them. */
export function edgeKey(edge: EdgeDocument): string {
  const [start, end] = [startOf(edge), endOf(edge)];
  return `${start.node}.${start.port}>${end.node}.${end.port}`;
}

/** What leads from `before` to `after`. Places do not count. */
export function difference(before: FlowDocument, after: FlowDocument): Difference {
  const had = new Map(nodesOf(before).map((node) => [idOf(node), node]));
  const has = new Map(nodesOf(after).map((node) => [idOf(node), node]));
  const changed = new Map<string, FieldChange[]>();
  for (const [id, node] of has) {
    const old = had.get(id);
    if (old === undefined || old === node) continue;
    const changes = changesOf(old, node);
    if (changes.length > 0) changed.set(id, changes);
  }
  const edgesBefore = new Set(edgesOf(before).map(edgeKey));
  const edgesAfter = new Set(edgesOf(after).map(edgeKey));
  return {
    added: [...has].flatMap(([id, node]) => (had.has(id) ? [] : [node])),
    removed: new Set([...had.keys()].filter((id) => !has.has(id))),
    changed,
    addedEdges: edgesOf(after).filter((edge) => !edgesBefore.has(edgeKey(edge))),
    removedEdges: new Set([...edgesBefore].filter((key) => !edgesAfter.has(key))),
  };
}

export function isSame(found: Difference): boolean {
  return found.added.length + found.removed.size + found.changed.size + found.addedEdges.length + found.removedEdges.size === 0;
}

/** How many components and connections are not as they were. */
export function sizeOf(found: Difference): number {
  return found.added.length + found.removed.size + found.changed.size;
}

/** All of several differences in one. */
export function together(all: readonly Difference[]): Difference {
  const changed = new Map<string, FieldChange[]>();
  for (const one of all) for (const [id, changes] of one.changed) changed.set(id, [...(changed.get(id) ?? []), ...changes]);
  return {
    added: all.flatMap((one) => one.added),
    removed: new Set(all.flatMap((one) => [...one.removed])),
    changed,
    addedEdges: all.flatMap((one) => one.addedEdges),
    removedEdges: new Set(all.flatMap((one) => [...one.removedEdges])),
  };
}

function changesOf(before: NodeDocument, after: NodeDocument): FieldChange[] {
  const changes: FieldChange[] = [];
  if (titleOf(before) !== titleOf(after)) changes.push({ field: "", label: "", before: titleOf(before), after: titleOf(after) });
  const [told, tells] = [definitionOf(before).description ?? "", definitionOf(after).description ?? ""];
  if (told !== tells) changes.push({ field: "", label: "", before: told, after: tells });
  const old = new Map(fieldsOf(before).map((field) => [field.name, field]));
  for (const field of fieldsOf(after)) {
    const value = old.get(field.name)?.value;
    if (!sameValue(value, field.value)) changes.push({ field: field.name, label: labelOf(field), before: value, after: field.value });
  }
  const code = (node: NodeDocument) => (definitionOf(node).template["code"] as { value?: unknown } | undefined)?.value;
  if (!sameValue(code(before), code(after))) changes.push({ field: "code", label: "code", before: code(before), after: code(after) });
  return changes;
}

function sameValue(one: unknown, other: unknown): boolean {
  const isEmpty = (value: unknown) => value === undefined || value === null || value === "";
  return one === other || (isEmpty(one) && isEmpty(other)) || JSON.stringify(one) === JSON.stringify(other);
}

/** How large a component is drawn where nothing is known of it. */
const SIZE = { width: 280, height: 240 };
const GAP = 96;

/** Places for components that are to be added: as they are, or all of them below the flow if one would cover another. */
export function placed(flow: FlowDocument, added: readonly NodeDocument[]): Map<string, Point> {
  const there = nodesOf(flow).map(placeOf);
  const wanted = added.map((node) => ({ id: idOf(node), ...placeOf(node) }));
  const covers = wanted.some((one) =>
    there.some((other) => Math.abs(one.x - other.x) < SIZE.width && Math.abs(one.y - other.y) < SIZE.height),
  );
  const down = covers
    ? Math.max(...there.map((one) => one.y)) + SIZE.height * 1.5 + GAP - Math.min(...wanted.map((one) => one.y))
    : 0;
  return new Map(wanted.map(({ id, x, y }) => [id, { x, y: y + down }]));
}

export function placeOf(node: NodeDocument): Point {
  const { x = 0, y = 0 } = node.position ?? {};
  return { x, y };
}

/** The flow with what is to be added, each component where a canvas draws it. */
export function withAdded(flow: FlowDocument, found: Difference): FlowDocument {
  const places = placed(flow, found.added);
  const added = found.added.map((node) => ({ ...node, position: { ...(places.get(idOf(node)) ?? placeOf(node)) } }));
  return withGraph(flow, [...nodesOf(flow), ...added], [...edgesOf(flow), ...found.addedEdges]);
}
