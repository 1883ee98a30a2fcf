/** Two people's changes of one flow: what only one of them changed is taken, and what both changed differently is asked about. */

import type { EdgeDocument, FlowDocument, NodeDocument } from "../api/contract";
import { isAlike } from "./alike";
import { refusal } from "./connect";
import { edgeKey } from "./difference";
import { edgesOf, endOf, idOf, nodesOf, startOf, withGraph } from "./document";

export type Whose = "mine" | "theirs";

export interface Merge {
  /** The flow with the changes of both. Where they clash and nothing is decided, it has mine. */
  flow: FlowDocument;
  /** The components that both changed differently, or that one removed and the other changed; empty for the flow's own details. */
  clashes: ReadonlySet<string>;
}

/** Where a component is drawn and how large: it never clashes. */
const LOOKS: ReadonlySet<string> = new Set(["position", "positionAbsolute", "measured", "width", "height", "style", "dragging", "selected"]);

/** The details of a flow that are no part of its graph. */
const GRAPH: ReadonlySet<string> = new Set(["data", "nodes", "edges"]);

/** Merges two changes of a flow.
 * @param base - the flow that both began with.
 * @param decided - whose change is taken where they clash, by component.
 */
export function merge(base: FlowDocument, mine: FlowDocument, theirs: FlowDocument, decided: ReadonlyMap<string, Whose> = new Map()): Merge {
  const clashes = new Set<string>();
  const whose = (node: string): Whose => decided.get(node) ?? "mine";
  const clash = (node: string) => () => void clashes.add(node);
  const details = (flow: FlowDocument) => Object.fromEntries(Object.entries(flow).filter(([key]) => !GRAPH.has(key)));
  const rest = three(details(base), details(mine), details(theirs), whose(""), clash("")) as FlowDocument;
  const nodes = mergedNodes(base, mine, theirs, whose, clash);
  const made = withGraph({ ...mine, ...rest }, nodes, []);
  for (const key of Object.keys(mine)) if (!GRAPH.has(key) && !(key in rest)) Reflect.deleteProperty(made, key);
  return { flow: mergedEdges(made, base, mine, theirs, whose, clash), clashes };
}

type Clash = (node: string) => () => void;

function mergedNodes(base: FlowDocument, mine: FlowDocument, theirs: FlowDocument, whose: (node: string) => Whose, clash: Clash): NodeDocument[] {
  const byId = (flow: FlowDocument) => new Map(nodesOf(flow).map((node) => [idOf(node), node]));
  const [was, here, there] = [byId(base), byId(mine), byId(theirs)];
  const kept = [...here].flatMap(([id, node]) => {
    const [old, other] = [was.get(id), there.get(id)];
    if (other !== undefined) return [mergedNode(old, node, other, whose(id), clash(id))];
    return old === undefined || staysThough(old, node, whose(id) === "mine", clash(id)) ? [node] : [];
  });
  const joined = [...there].filter(([id, node]) => {
    if (here.has(id)) return false;
    const old = was.get(id);
    return old === undefined || staysThough(old, node, whose(id) === "theirs", clash(id));
  });
  return [...kept, ...joined.map(([, node]) => node)];
}

/** Whether a component stays that the other one removed: only if it was changed here, which is a clash, and is wanted. */
function staysThough(old: NodeDocument, changed: NodeDocument, isWanted: boolean, clash: () => void): boolean {
  if (isAlike(withoutLooks(old), withoutLooks(changed))) return false;
  clash();
  return isWanted;
}

function withoutLooks(node: NodeDocument): object {
  return Object.fromEntries(Object.entries(node).filter(([key]) => !LOOKS.has(key)));
}

function mergedNode(old: NodeDocument | undefined, mine: NodeDocument, theirs: NodeDocument, whose: Whose, clash: () => void): NodeDocument {
  if (mine === theirs) return mine;
  const looks = (node: NodeDocument | undefined) => Object.fromEntries(Object.entries(node ?? {}).filter(([key]) => LOOKS.has(key)));
  const merged = three(withoutLooks(old ?? {}), withoutLooks(mine), withoutLooks(theirs), whose, clash) as NodeDocument;
  const placed = three(looks(old), looks(mine), looks(theirs), "mine", () => undefined) as NodeDocument;
  const both = { ...merged, ...placed };
  return isAlike(both, mine) ? mine : both;
}

/** A value after two changes of it; objects are merged by their keys, and lists are whole. */
function three(old: unknown, mine: unknown, theirs: unknown, whose: Whose, clash: () => void): unknown {
  if (isAlike(mine, theirs) || isAlike(old, theirs)) return mine;
  if (isAlike(old, mine)) return theirs;
  if (isObject(mine) && isObject(theirs)) {
    const keys = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
    const values = keys.map((key): [string, unknown] => [key, three(at(old, key), at(mine, key), at(theirs, key), whose, clash)]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }
  clash();
  return whose === "mine" ? mine : theirs;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function at(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The flow with the connections of both whose ends are there; an input that takes one keeps one. */
function mergedEdges(made: FlowDocument, base: FlowDocument, mine: FlowDocument, theirs: FlowDocument, whose: (node: string) => Whose, clash: Clash): FlowDocument {
  const keys = (flow: FlowDocument) => new Set(edgesOf(flow).map(edgeKey));
  const [was, here, there] = [keys(base), keys(mine), keys(theirs)];
  const ids = new Set(nodesOf(made).map(idOf));
  const hasEnds = (edge: EdgeDocument) => ids.has(edge.source) && ids.has(edge.target);
  const without = (flow: FlowDocument) => {
    const known = new Set(nodesOf(flow).map(idOf));
    return (edge: EdgeDocument) => !known.has(edge.source) || !known.has(edge.target); // it went with its component, which is there again
  };
  const [wentHere, wentThere] = [without(mine), without(theirs)];
  let edges = edgesOf(mine).filter((edge) => hasEnds(edge) && (there.has(edgeKey(edge)) || !was.has(edgeKey(edge)) || wentThere(edge)));
  for (const edge of edgesOf(theirs)) {
    if (!hasEnds(edge) || here.has(edgeKey(edge)) || (was.has(edgeKey(edge)) && !wentHere(edge))) continue;
    const end = endOf(edge);
    if (refusal(withGraph(made, nodesOf(made), edges), startOf(edge), end)?.why === "taken") {
      clash(end.node)();
      if (whose(end.node) === "mine") continue;
      edges = edges.filter((one) => endOf(one).node !== end.node || endOf(one).port !== end.port);
    }
    edges.push(edge);
  }
  return withGraph(made, nodesOf(made), edges);
}
