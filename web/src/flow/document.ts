/** What a canvas reads of a Langflow document: nodes, their fields and ports, edges and their ends. */

import type { EdgeDocument, FlowDocument, NodeDocument } from "../api/contract";

export interface Field {
  name: string;
  display_name?: string;
  type?: string;
  _input_type?: string;
  input_types?: string[] | null;
  value?: unknown;
  show?: boolean;
  advanced?: boolean;
  required?: boolean;
  multiline?: boolean;
  password?: boolean;
  is_list?: boolean;
  list?: boolean;
  options?: unknown[];
  info?: string;
  placeholder?: string;
  load_from_db?: boolean;
  real_time_refresh?: boolean;
  limit?: number;
  range_spec?: { min?: number; max?: number; step?: number };
  table_schema?: unknown;
  fileTypes?: string[];
  tool_mode?: boolean;
}

export interface Output {
  name: string;
  display_name?: string;
  types?: string[];
  selected?: string | null;
  hidden?: boolean | null;
  group_outputs?: boolean;
}

export interface Definition {
  display_name?: string;
  description?: string;
  template: Record<string, unknown>;
  outputs?: Output[];
  tool_mode?: boolean;
}

/** One end of a connection. */
export interface End {
  node: string;
  port: string;
}

export const NOTE = "noteNode";

export const EMPTY: FlowDocument = { name: "Untitled flow", data: { nodes: [], edges: [] } };

/** A flow as the page can show it: one from elsewhere may be named by something that is no text. */
export function shownFlow(flow: FlowDocument): FlowDocument {
  const { name } = flow as { name?: unknown };
  return name === undefined || name === null || typeof name === "string" ? flow : { ...flow, name: "Untitled flow" };
}

export function nodesOf(flow: FlowDocument): NodeDocument[] {
  return flow.data?.nodes ?? flow.nodes ?? [];
}

export function edgesOf(flow: FlowDocument): EdgeDocument[] {
  return flow.data?.edges ?? flow.edges ?? [];
}

export function withGraph(flow: FlowDocument, nodes: NodeDocument[], edges: EdgeDocument[]): FlowDocument {
  if (flow.data === undefined && flow.nodes !== undefined) return { ...flow, nodes, edges };
  return { ...flow, data: { ...flow.data, nodes, edges } };
}

export function idOf(node: NodeDocument): string {
  return node.id ?? (node.data?.["id"] as string | undefined) ?? "";
}

export function definitionOf(node: NodeDocument): Definition {
  const definition = node.data?.["node"] as Partial<Definition> | undefined;
  return { ...definition, template: definition?.template ?? {} };
}

export function typeOf(node: NodeDocument): string {
  return textOf(node.data?.["type"]) ?? "";
}

export function titleOf(node: NodeDocument): string {
  return textOf(definitionOf(node).display_name) ?? typeOf(node);
}

/** A text with the names of components in place of their ids. */
export function named(flow: FlowDocument): (text: string) => string {
  const nodes = nodesOf(flow).filter((node) => idOf(node) !== "").sort((one, other) => idOf(other).length - idOf(one).length);
  return (text) => nodes.reduce((told, node) => told.replaceAll(idOf(node), titleOf(node)), text);
}

export function isNote(node: NodeDocument): boolean {
  return node.type === NOTE || typeOf(node) === "note";
}

/** The component at which a chat with the flow begins. */
export function chatInputOf(flow: FlowDocument): NodeDocument | undefined {
  return nodesOf(flow).find((node) => typeOf(node) === "ChatInput");
}

/** A node's fields in the order that it has them; without its source, unless that is asked for. */
export function fieldsOf(node: NodeDocument, withSource = false): Field[] {
  return Object.entries(definitionOf(node).template)
    .filter(([name, field]) => name !== "_type" && (withSource || name !== "code") && typeof field === "object" && field !== null)
    .map(([name, field]) => withLists({ ...(field as Field), name }));
}

/** The fields that a node shows before it is opened: those that matter, and those that are connected. */
export function shownFields(node: NodeDocument, connected: ReadonlySet<string>): Field[] {
  return fieldsOf(node).filter((field) => connected.has(field.name) || (field.show !== false && field.advanced !== true));
}

export function isPort(field: Field): boolean {
  return (field.input_types?.length ?? 0) > 0;
}

/** The outputs that can be connected: the selected one where several share a port, the tool alone in tool mode. */
export function outputsOf(node: NodeDocument): Output[] {
  const definition = definitionOf(node);
  const outputs = listOf(definition.outputs)
    .filter((output): output is Output => textOf((output as Partial<Output> | null)?.name) !== undefined && (output as Output).hidden !== true)
    .map((output) => (isTexts(output.types) ? output : { ...output, types: [] }));
  if (definition.tool_mode === true) {
    const tool = outputs.filter((output) => output.name === "component_as_tool");
    if (tool.length > 0) return tool;
  }
  return outputs;
}

export function labelOf(port: { name: string; display_name?: string }): string {
  return textOf(port.display_name) ?? port.name;
}

/** A text of a document that others may have written; undefined for anything else that stands there. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function startOf(edge: EdgeDocument): End {
  const handle = edge.data?.["sourceHandle"] as { name?: unknown } | null | undefined;
  return { node: edge.source, port: textOf(handle?.name) ?? "" };
}

export function endOf(edge: EdgeDocument): End {
  const handle = edge.data?.["targetHandle"] as { fieldName?: unknown } | null | undefined;
  return { node: edge.target, port: textOf(handle?.fieldName) ?? "" };
}

export function edgeId(edge: EdgeDocument): string {
  if (edge.id !== undefined && edge.id !== "") return edge.id;
  const [start, end] = [startOf(edge), endOf(edge)];
  return `${start.node}.${start.port}->${end.node}.${end.port}`;
}

/** A node's fields that an edge ends at. */
export function connectedFields(flow: FlowDocument, node: string): Set<string> {
  return new Set(
    edgesOf(flow)
      .map(endOf)
      .filter((end) => end.node === node)
      .map((end) => end.port),
  );
}

/** A field whose lists are lists, whatever the document says. */
function withLists(field: Field): Field {
  const made = field;
  if (!isTexts(field.input_types)) made.input_types = [];
  if (field.options !== undefined && !Array.isArray(field.options)) made.options = [];
  return made;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isTexts(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.every((one) => typeof one === "string"));
}

/** Whether a file of some name is of a kind that a field reads. */
export function takesFile(field: Field, path: string): boolean {
  const types = field.fileTypes ?? [];
  return types.length === 0 || types.some((type) => path.toLowerCase().endsWith(`.${type.replace(/^\./, "")}`));
}
