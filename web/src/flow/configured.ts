/** What the server made of a component's values, put into a flow that may have changed meanwhile. */

import type { FlowDocument, NodeDocument } from "../api/contract";
import { definitionOf, edgesOf, endOf, fieldsOf, idOf, nodesOf, outputsOf, startOf, withGraph } from "./document";

/** The flow with a component as the server made it; connections at ports that it no longer has are gone.
 * @param sent - the component as it was sent; what the user has changed since then stays.
 * @param values - what was to be set; a field that holds another value by now stays as well.
 */
export function withConfigured(flow: FlowDocument, sent: NodeDocument, made: NodeDocument, values: Readonly<Record<string, unknown>>): FlowDocument {
  const id = idOf(sent);
  const current = nodesOf(flow).find((node) => idOf(node) === id);
  if (current === undefined) return flow;
  const merged = merge(sent, current, made, values);
  const lost = { fields: gone(shownNames(current), shownNames(merged)), outputs: gone(outputNames(current), outputNames(merged)) };
  return withGraph(
    flow,
    nodesOf(flow).map((node) => (node === current ? merged : node)),
    edgesOf(flow).filter((edge) => {
      const [start, end] = [startOf(edge), endOf(edge)];
      return !(end.node === id && lost.fields.has(end.port)) && !(start.node === id && lost.outputs.has(start.port));
    }),
  );
}

function merge(sent: NodeDocument, current: NodeDocument, made: NodeDocument, values: Readonly<Record<string, unknown>>): NodeDocument {
  const [before, now, after] = [definitionOf(sent), definitionOf(current), definitionOf(made)];
  const changed = Object.entries(now.template).filter(([name, field]) => {
    const isSet = Object.hasOwn(values, name) && (field as { value?: unknown }).value === values[name];
    return field !== before.template[name] && !isSet;
  });
  const template = Object.fromEntries([...Object.entries(after.template), ...changed]); // a field may be called `__proto__`
  return { ...current, data: { ...current.data, ...made.data, node: { ...now, ...made.data?.["node"] as object, display_name: now.display_name, template } } };
}

function shownNames(node: NodeDocument): Set<string> {
  return new Set(fieldsOf(node).filter((field) => field.show !== false).map((field) => field.name));
}

function outputNames(node: NodeDocument): Set<string> {
  return new Set(outputsOf(node).map((output) => output.name));
}

function gone(before: ReadonlySet<string>, after: ReadonlySet<string>): Set<string> {
  return new Set([...before].filter((name) => !after.has(name)));
}
