/** The assistant's changes, applied to a document as they stream. */

import type { Event, FlowDocument, NodeDocument } from "../api/contract";
import { edgeId, edgesOf, idOf, nodesOf, withGraph } from "./document";

export type FlowUpdate = Extract<Event, { event: "flow_update" }>;

/** The document after a change; the same document for one that only proposes. */
export function applyUpdate(flow: FlowDocument, update: FlowUpdate): FlowDocument {
  const [nodes, edges] = [nodesOf(flow), edgesOf(flow)];
  switch (update.action) {
    case "add_component": {
      const added = update.edges ?? [];
      return withGraph(flow, [...nodes.filter((node) => idOf(node) !== idOf(update.node)), update.node], [...edges, ...added]);
    }
    case "remove_component": {
      const gone = update.component_id;
      return withGraph(
        flow,
        nodes.filter((node) => idOf(node) !== gone),
        edges.filter((edge) => edge.source !== gone && edge.target !== gone),
      );
    }
    case "connect": {
      const id = edgeId(update.edge);
      return withGraph(flow, nodes, [...edges.filter((edge) => edgeId(edge) !== id), update.edge]);
    }
    case "disconnect": {
      const id = edgeId(update.edge);
      return withGraph(flow, nodes, edges.filter((edge) => edgeId(edge) !== id));
    }
    case "arrange":
      return withGraph(
        flow,
        nodes.map((node) => (idOf(node) === update.component_id ? arranged(node, update.key, update.value) : node)),
        edges,
      );
    case "set_detail":
      return withDetail(flow, update.path, update.value);
    case "set_flow":
      return update.auto_apply ? update.flow : flow;
    case "propose_plan":
    case "edit_field":
      return flow;
    default: {
      const changed = update.node;
      if (changed === undefined) return flow;
      return withGraph(
        flow,
        nodes.map((node) => (idOf(node) === update.component_id ? changed : node)),
        edges,
      );
    }
  }
}

/** The node that a change concerns. */
export function changedNode(update: FlowUpdate): string | null {
  if ("component_id" in update) return update.component_id;
  if (update.action === "add_component") return idOf(update.node);
  if (update.action === "connect") return update.edge.target;
  return null;
}

function arranged(node: NodeDocument, key: string, value: unknown): NodeDocument {
  const changed: NodeDocument = { ...node, [key]: value };
  if (value === null || value === undefined) Reflect.deleteProperty(changed, key);
  return changed;
}

function withDetail(flow: FlowDocument, path: (string | number)[], value: unknown): FlowDocument {
  const [key, ...rest] = path;
  if (key === undefined) return flow;
  const inner = rest.length === 0 ? value : withDetail((flow[key] ?? {}) as FlowDocument, rest, value);
  const changed: FlowDocument = { ...flow, [key]: inner };
  if (inner === null) Reflect.deleteProperty(changed, key);
  return changed;
}
