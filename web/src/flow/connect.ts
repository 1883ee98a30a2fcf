/** Which connections are legal, why others are not, and what a new one looks like in the document. */

import type { EdgeDocument, FlowDocument, NodeDocument } from "../api/contract";
import { edgesOf, endOf, fieldsOf, idOf, isPort, labelOf, nodesOf, outputsOf, startOf, typeOf } from "./document";
import type { End, Field, Output } from "./document";

export type Refusal =
  | { why: "self" }
  | { why: "unknown" }
  | { why: "types"; from: string; gives: string[]; to: string; takes: string[] }
  | { why: "taken"; to: string }
  | { why: "exists" };

/** The reason why two ends cannot be connected; null if they can. */
export function refusal(flow: FlowDocument, from: End, to: End): Refusal | null {
  if (from.node === to.node) return { why: "self" };
  const output = outputAt(flow, from);
  const field = fieldAt(flow, to);
  if (output === undefined || field === undefined) return { why: "unknown" };
  if (!fits(output, field)) {
    return { why: "types", from: labelOf(output), gives: output.types ?? [], to: labelOf(field), takes: field.input_types ?? [] };
  }
  const here = edgesOf(flow).filter((edge) => sameEnd(endOf(edge), to));
  if (here.some((edge) => sameEnd(startOf(edge), from))) return { why: "exists" };
  if (here.length > 0 && field.list !== true && field.is_list !== true) return { why: "taken", to: labelOf(field) };
  return null;
}

export interface Target {
  end: End;
  node: NodeDocument;
  field: Field;
}

/** All ends that an output may be connected to, the likeliest first.
 *
 * Inputs that a component shows come before those among its further settings, near components before far ones, and in a
 * component what it lacks before what has a value of its own.
 */
export function targets(flow: FlowDocument, from: End): Target[] {
  const start = nodesOf(flow).find((node) => idOf(node) === from.node);
  const found = nodesOf(flow).flatMap((node, at) =>
    fieldsOf(node)
      .filter(isPort)
      .map((field) => ({ end: { node: idOf(node), port: field.name }, node, field }))
      .filter(({ end }) => refusal(flow, from, end) === null)
      .map((target) => ({ target, rank: [isSetting(target.field) ? 1 : 0, start === undefined ? 0 : wayTo(start, node), at, lackOf(target.field)] })),
  );
  return found.sort((one, other) => compared(one.rank, other.rank)).map(({ target }) => target);
}

/** Whether a field is among the further settings of its component. */
export function isSetting(field: Field): boolean {
  return field.advanced === true || field.show === false;
}

/** About how wide a component is drawn. */
const WIDTH = 320;

/** How far it is from the right side of a component to the left one of another; the way back counts twice. */
function wayTo(from: NodeDocument, to: NodeDocument): number {
  const [start, end] = [from.position, to.position].map((at) => ({ x: at?.["x"] ?? 0, y: at?.["y"] ?? 0 }));
  if (start === undefined || end === undefined) return 0;
  const along = end.x - (start.x + WIDTH);
  return Math.hypot(along < 0 ? -2 * along : along, end.y - start.y);
}

/** How much an input waits for a connection: one that is required and has nothing, one without a value of its own, others. */
function lackOf(field: Field): number {
  const isEmpty = field.value === undefined || field.value === null || field.value === "";
  return field.required === true && isEmpty ? 0 : isEmpty ? 1 : 2;
}

function compared(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((number, index) => number !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** A new edge as Langflow stores it. */
export function edgeBetween(flow: FlowDocument, from: End, to: End): EdgeDocument {
  const output = outputAt(flow, from);
  const field = fieldAt(flow, to);
  const source = nodesOf(flow).find((node) => idOf(node) === from.node);
  const sourceHandle = {
    dataType: source === undefined ? "" : typeOf(source),
    id: from.node,
    name: from.port,
    output_types: output?.types ?? [],
  };
  const targetHandle = { fieldName: to.port, id: to.node, inputTypes: field?.input_types ?? [], type: field?.type ?? "str" };
  const [start, end] = [quoted(sourceHandle), quoted(targetHandle)];
  return {
    id: `reactflow__edge-${from.node}${start}-${to.node}${end}`,
    source: from.node,
    sourceHandle: start,
    target: to.node,
    targetHandle: end,
    data: { sourceHandle, targetHandle },
  };
}

/** A handle as Langflow writes it into an edge: its JSON with `œ` for quotation marks. */
function quoted(handle: object): string {
  return JSON.stringify(handle).replaceAll('"', "œ");
}

export function fits(output: Output, field: Field): boolean {
  const taken = field.input_types ?? [];
  return (output.types ?? []).some((type) => taken.includes(type));
}

function outputAt(flow: FlowDocument, end: End): Output | undefined {
  const node = nodesOf(flow).find((one) => idOf(one) === end.node);
  return node === undefined ? undefined : outputsOf(node).find((output) => output.name === end.port);
}

function fieldAt(flow: FlowDocument, end: End): Field | undefined {
  const node = nodesOf(flow).find((one) => idOf(one) === end.node);
  return node === undefined ? undefined : fieldsOf(node).find((field) => field.name === end.port && isPort(field));
}

function sameEnd(one: End, other: End): boolean {
  return one.node === other.node && one.port === other.port;
}
