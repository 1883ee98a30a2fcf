/** What is wrong with components, known by what they hold: a change that is undone brings back the faults that it took away. */

import type { Fault, FlowDocument, NodeDocument } from "../api/contract";
import { idOf, nodesOf } from "./document";

/** Faults by the content of a component, which is another object after each change of it. */
export type KnownFaults = WeakMap<object, readonly Fault[]>;

/** What is only not done yet: it is told when somebody runs the flow, or asks for it to be checked. */
const UNFINISHED: ReadonlySet<string> = new Set(["missing_input", "open_loop"]);

function contentOf(node: NodeDocument): object {
  return node.data ?? node;
}

/** What is known to be wrong with a component as it is now. */
export function knownOf(known: KnownFaults, node: NodeDocument): readonly Fault[] | undefined {
  return known.get(contentOf(node));
}

/** Notes what is wrong with a component as it is now. */
export function note(known: KnownFaults, node: NodeDocument, faults: readonly Fault[]): void {
  const before = knownOf(known, node) ?? [];
  if (faults.length === 0) known.delete(contentOf(node));
  else if (JSON.stringify(before) !== JSON.stringify(faults)) known.set(contentOf(node), faults);
}

/** Notes what a check of the whole flow has found: what cannot work as it stands, and nothing that is only unfinished. */
export function noteAll(known: KnownFaults, flow: FlowDocument, found: readonly Fault[]): void {
  const standing = found.filter(({ severity, code }) => severity === "error" && !UNFINISHED.has(code));
  for (const node of nodesOf(flow)) note(known, node, standing.filter((fault) => fault.node === idOf(node)));
}

/** All that is wrong with a component, each fault once. */
export function together(...lists: readonly (readonly Fault[])[]): Fault[] {
  const found = new Map(lists.flat().map((fault) => [`${fault.code}\n${fault.field ?? ""}`, fault]));
  return [...found.values()];
}
