import { useConnection } from "@xyflow/react";
import type { Node, NodeProps } from "@xyflow/react";
import { memo, useMemo, useState } from "react";

import type { NodeDocument } from "../api/contract";
import { refusal } from "../flow/connect";
import type { FieldChange } from "../flow/difference";
import { knownOf, together } from "../flow/faults";
import { fieldsOf, isPort, labelOf, outputsOf, shownFields, titleOf, typeOf } from "../flow/document";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { useRun } from "../state/run";
import { Boundary } from "../ui/Boundary";
import { shortened } from "../ui/shortened";
import { Faults } from "./Faults";
import { FieldInput, summaryOf } from "./FieldInput";
import { Port } from "./Port";
import { Title } from "./Title";
import { isDrawnAlike, namesIn } from "./drawing";

export interface NodeData extends Record<string, unknown> {
  document: NodeDocument;
  isChanged: boolean;
  /** The names of the fields at which connections end, each on a line. */
  connected: string;
  /** What a change that waits for the user would do to it. */
  fate: "added" | "removed" | null;
  changes: readonly FieldChange[];
}

export type CanvasNode = Node<NodeData, "component">;

const NONE: readonly FieldChange[] = [];

/** How much of an output is shown before it is opened. */
const SHORT = 80;

/** A component on the canvas; one that cannot be drawn says so, and leaves the others alone. */
export const FlowNode = memo(function FlowNode(props: NodeProps<CanvasNode>) {
  const { document } = props.data;
  const unreadable = (
    <article className="node" aria-label={titleOf(document)}>
      <header>
        <strong dir="auto">{titleOf(document)}</strong>
      </header>
      <p className="refusal">{strings.unreadable}</p>
    </article>
  );
  return (
    <Boundary of={document} fallback={unreadable}>
      <Shown {...props} />
    </Boundary>
  );
}, isDrawnAlike);

/** Its fields with their inputs, and its outputs. */
function Shown({ id, data, selected }: NodeProps<CanvasNode>) {
  const { document, fate, changes } = data;
  const [isOpen, setOpen] = useState(false);
  const everyFault = useFlow((state) => state.faults);
  const known = useFlow((state) => knownOf(state.known.faults, document));
  const faults = useMemo(() => together(everyFault.filter((fault) => fault.node === id), known ?? []), [everyFault, known, id]);
  const isPointedAt = useFlow((state) => state.pointedAt === id);
  const running = useRun((run) => run.nodes.get(id));
  const given = useRun((run) => run.values.get(id));
  const connected = useMemo(() => namesIn(data.connected), [data.connected]);
  const all = useMemo(() => fieldsOf(document).filter((field) => field.show !== false), [document]);
  const waiting = new Set(changes.map((one) => one.field));
  const listed = isOpen ? all : shownFields(document, connected);
  const shown = isOpen || waiting.size === 0 ? listed : all.filter((field) => waiting.has(field.name) || listed.some((one) => one.name === field.name));
  const hidden = all.length - shown.length;
  const atFields = new Map((known ?? []).filter(({ field }) => shown.some(({ name }) => name === field)).map((fault) => [fault.field, fault]));
  const others = faults.filter((fault) => atFields.get(fault.field) !== fault);
  const refused = useRefused(id, document);
  const titles = changes.filter((one) => one.field === "" || !all.some((field) => field.name === one.field));
  const look = ["node", selected ? "selected" : "", data.isChanged ? "changed" : "", isPointedAt ? "pointed" : "", running ?? "", fate ?? "", changes.length > 0 ? "edited" : ""];
  return (
    <article className={look.filter(Boolean).join(" ")} aria-label={labelled(titleOf(document), data)}>
      <header>
        <Title id={id} document={document} />
        {titleOf(document) !== typeOf(document) && <small>{typeOf(document)}</small>}
        {fate !== null && <span className="fate">{fate === "added" ? strings.isAdded : strings.isRemoved}</span>}
        {titles.map((one, at) => (
          <div className="waits" key={at}>
            <del>{summaryOf(one.before)}</del>
            <ins>{summaryOf(one.after)}</ins>
          </div>
        ))}
      </header>
      {others.length > 0 && <Faults faults={others} />}
      {shown.map((field) => (
        <div className={`port-row ${refused.has(field.name) ? "refused" : ""}`} key={field.name} inert={fate === "removed"}>
          {isPort(field) && <Port id={field.name} side="in" label={labelOf(field)} types={field.input_types ?? []} />}
          <FieldInput
            node={id}
            field={field}
            isConnected={connected.has(field.name)}
            changes={waiting.has(field.name) ? changes.filter((one) => one.field === field.name) : NONE}
            fault={atFields.get(field.name)}
          />
        </div>
      ))}
      {(hidden > 0 || isOpen) && (
        <button type="button" className="more nodrag" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? strings.less : strings.moreFields(hidden)}
        </button>
      )}
      {given !== undefined && (
        <details className="given nodrag nowheel">
          <summary>
            {strings.output} <span className="gave">{shortOf(given)}</span>
          </summary>
          <pre tabIndex={0}>{summaryOf(given)}</pre>
        </details>
      )}
      {outputsOf(document).map((output) => (
        <div className="port-row output" key={output.name}>
          <span>{labelOf(output)}</span>
          <Port id={output.name} side="out" label={labelOf(output)} types={output.types ?? []} />
        </div>
      ))}
    </article>
  );
}

/** What a component gave, in a line. */
function shortOf(given: unknown): string {
  const text = summaryOf(given).replace(/\s+/g, " ").trim();
  return shortened(text, SHORT);
}

/** The fields that do not take what is being dragged. */
function useRefused(id: string, document: NodeDocument): ReadonlySet<string> {
  const dragged = useConnection((connection) =>
    connection.inProgress && connection.fromHandle.type === "source" ? `${connection.fromNode.id}\n${connection.fromHandle.id ?? ""}` : "",
  );
  return useMemo(() => {
    if (dragged === "") return new Set<string>();
    const [node = "", port = ""] = dragged.split("\n");
    const flow = useFlow.getState().history.present;
    return new Set(fieldsOf(document).flatMap(({ name }) => (refusal(flow, { node, port }, { node: id, port: name }) === null ? [] : [name])));
  }, [dragged, id, document]);
}

function labelled(title: string, { fate, changes }: NodeData): string {
  if (fate === "added") return strings.toBeAdded(title);
  if (fate === "removed") return strings.toBeRemoved(title);
  return changes.length > 0 ? strings.toBeChanged(title) : title;
}
