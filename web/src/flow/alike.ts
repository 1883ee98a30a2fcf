/** Whether two documents say the same, whoever wrote them. */

import type { FlowDocument } from "../api/contract";
import { edgesOf, idOf, nodesOf } from "./document";

/** Whether two values of JSON are equal. The order of keys does not count, and what is null may as well be missing. */
export function isAlike(one: unknown, other: unknown): boolean {
  if (one === other || (isNothing(one) && isNothing(other))) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((item, at) => isAlike(item, other[at]));
  }
  const [mine, theirs] = [one as Record<string, unknown>, other as Record<string, unknown>];
  return [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].every((key) => isAlike(mine[key], theirs[key]));
}

/** Whether two flows have the same components and connections, wherever they stand and whatever they are called together. */
export function runsAlike(one: FlowDocument, other: FlowDocument): boolean {
  if (one === other) return true;
  const parts = (flow: FlowDocument) => nodesOf(flow).map((node) => ({ id: idOf(node), data: node.data }));
  return isAlike(parts(one), parts(other)) && isAlike(edgesOf(one), edgesOf(other));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}
