/** Changes that the user makes by hand, each from a document to the next. */

import type { FlowDocument, NodeDocument, WholeComponent } from "../api/contract";
import { edgeBetween } from "./connect";
import { definitionOf, edgeId, edgesOf, idOf, nodesOf, typeOf, withGraph } from "./document";
import type { End } from "./document";
import { freshId, withId } from "./ids";

export interface Point {
  x: number;
  y: number;
}

export function setField(flow: FlowDocument, id: string, field: string, value: unknown): FlowDocument {
  return withNode(flow, id, (node) => withField(node, field, value));
}

function withField(node: NodeDocument, field: string, value: unknown): NodeDocument {
  const definition = definitionOf(node);
  const before = definition.template[field] as object | undefined;
  const template = { ...definition.template, [field]: { ...before, value } };
  return { ...node, data: { ...node.data, node: { ...definition, template } } };
}

export function rename(flow: FlowDocument, id: string, title: string): FlowDocument {
  return withNode(flow, id, (node) => ({ ...node, data: { ...node.data, node: { ...definitionOf(node), display_name: title } } }));
}

export function move(flow: FlowDocument, places: ReadonlyMap<string, Point>): FlowDocument {
  const nodes = nodesOf(flow).map((node) => {
    const place = places.get(idOf(node));
    return place === undefined ? node : { ...node, position: { ...place } };
  });
  return withGraph(flow, nodes, edgesOf(flow));
}

export function remove(flow: FlowDocument, nodes: ReadonlySet<string>, edges: ReadonlySet<string>): FlowDocument {
  return withGraph(
    flow,
    nodesOf(flow).filter((node) => !nodes.has(idOf(node))),
    edgesOf(flow).filter((edge) => !edges.has(edgeId(edge)) && !nodes.has(edge.source) && !nodes.has(edge.target)),
  );
}

/** A connection; a model field says that its model comes from one, and a component which of its outputs is used. */
export function connect(flow: FlowDocument, from: End, to: End): FlowDocument {
  const edges = [...edgesOf(flow), edgeBetween(flow, from, to)];
  const nodes = nodesOf(flow).map((node) => {
    if (idOf(node) === from.node && severalOutputs(node)) return { ...node, data: { ...node.data, selected_output: from.port } };
    const field = definitionOf(node).template[to.port] as { type?: string } | undefined;
    return idOf(node) === to.node && field?.type === "model" ? withField(node, to.port, CONNECTED_MODEL) : node;
  });
  return withGraph(flow, nodes, edges);
}

/** What a model field holds whose model comes from a connection. */
export const CONNECTED_MODEL = "connect_other_models";

function severalOutputs(node: NodeDocument): boolean {
  return (definitionOf(node).outputs ?? []).filter((output) => output.group_outputs !== true).length > 1;
}

export const NOTE_COLOURS = ["amber", "rose", "lime", "blue", "neutral"] as const;

export type NoteColour = (typeof NOTE_COLOURS)[number];

/** A new note; returns the document and the note's id. */
export function addNote(flow: FlowDocument, position: Point): [FlowDocument, string] {
  const id = freshId(idsIn(flow), "note");
  const definition = { display_name: "", description: "", documentation: "", template: { backgroundColor: "amber" } };
  const node: NodeDocument = { id, type: "noteNode", position: { ...position }, data: { id, type: "note", node: definition } };
  return [withGraph(flow, [...nodesOf(flow), node], edgesOf(flow)), id];
}

/** How large a note is; as large as it comes where nothing says so. */
export function noteSize({ width, height, style }: NodeDocument): { width: number; height: number | undefined } {
  const [wide, high] = [numberOf(width) ?? numberOf((style as Size | null)?.width), numberOf(height) ?? numberOf((style as Size | null)?.height)];
  return { width: wide ?? NOTE_WIDTH, height: high };
}

/** The width of a note that nobody has resized. */
export const NOTE_WIDTH = 280;

interface Size {
  width?: unknown;
  height?: unknown;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 && value < 10_000 ? value : undefined;
}

/** The note with another size, and at another place if it grew to the left or up. */
export function resizeNote(flow: FlowDocument, id: string, { x, y, width, height }: Point & { width: number; height: number }): FlowDocument {
  const size = { width: Math.round(width), height: Math.round(height) };
  return withNode(flow, id, (node) => ({ ...node, ...size, style: { ...(node["style"] as object | undefined), ...size }, position: { x, y } }));
}

export function setNote(flow: FlowDocument, id: string, change: { text?: string; colour?: NoteColour }): FlowDocument {
  return withNode(flow, id, (node) => {
    const definition = definitionOf(node);
    const template = change.colour === undefined ? definition.template : { ...definition.template, backgroundColor: change.colour };
    const description = change.text ?? definition.description;
    return { ...node, data: { ...node.data, node: { ...definition, description, template } } };
  });
}

/** The colour of a note; amber where another program wrote one that is unknown here. */
export function noteColour(node: NodeDocument): NoteColour {
  const written = definitionOf(node).template["backgroundColor"];
  return NOTE_COLOURS.find((colour) => colour === written) ?? "amber";
}

/** A component of the catalogue on the canvas; returns the document and the new node's id. */
export function add(flow: FlowDocument, component: WholeComponent, position: Point): [FlowDocument, string] {
  const id = freshId(idsIn(flow), component.type);
  const node = { ...withId(structuredClone(component.node), id), position: { ...position } };
  return [withGraph(flow, [...nodesOf(flow), node], edgesOf(flow)), id];
}

/** Copies of nodes and of the edges between them, a little aside; returns the document and the new nodes' ids. */
export function duplicate(flow: FlowDocument, chosen: ReadonlySet<string>): [FlowDocument, Set<string>] {
  const ids = new Map<string, string>();
  let made = flow;
  for (const node of nodesOf(flow).filter((one) => chosen.has(idOf(one)))) {
    const id = freshId(idsIn(made), typeOf(node));
    ids.set(idOf(node), id);
    const { x = 0, y = 0 } = node.position ?? {};
    const copy = { ...withId(structuredClone(node), id), position: { x: x + 48, y: y + 48 } };
    made = withGraph(made, [...nodesOf(made), copy], edgesOf(made));
  }
  for (const edge of edgesOf(flow)) {
    const [source, target] = [ids.get(edge.source), ids.get(edge.target)];
    const from = (edge.data?.["sourceHandle"] as { name?: string } | undefined)?.name;
    const to = (edge.data?.["targetHandle"] as { fieldName?: string } | undefined)?.fieldName;
    if (source === undefined || target === undefined || from === undefined || to === undefined) continue;
    made = connect(made, { node: source, port: from }, { node: target, port: to });
  }
  return [made, new Set(ids.values())];
}

function withNode(flow: FlowDocument, id: string, change: (node: NodeDocument) => NodeDocument): FlowDocument {
  return withGraph(
    flow,
    nodesOf(flow).map((node) => (idOf(node) === id ? change(node) : node)),
    edgesOf(flow),
  );
}

function idsIn(flow: FlowDocument): Set<string> {
  return new Set(nodesOf(flow).map(idOf));
}
