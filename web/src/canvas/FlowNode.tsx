import { Handle, Position, useConnection } from "@xyflow/react";
import type { Node, NodeProps } from "@xyflow/react";
import { memo, useState } from "react";

import type { NodeDocument } from "../api/contract";
import { refusal } from "../flow/connect";
import { connectedFields, fieldsOf, isPort, labelOf, outputsOf, shownFields, titleOf, typeOf } from "../flow/document";
import { setField } from "../flow/edit";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { useRun } from "../state/run";
import { Faults } from "./Faults";
import { FieldInput, summaryOf } from "./FieldInput";
import { colourOf } from "./colours";

export type CanvasNode = Node<{ document: NodeDocument; isChanged: boolean }, "component">;

/** A component on the canvas: its fields with their inputs, and its outputs. */
export const FlowNode = memo(function FlowNode({ id, data, selected }: NodeProps<CanvasNode>) {
  const { document } = data;
  const [isOpen, setOpen] = useState(false);
  const faults = useFlow((state) => state.faults).filter((fault) => fault.node === id);
  const isPointedAt = useFlow((state) => state.pointedAt === id);
  const running = useRun((run) => run.nodes.get(id));
  const given = useRun((run) => run.values.get(id));
  const dragged = useConnection((connection) =>
    connection.inProgress && connection.fromHandle.type === "source" ? `${connection.fromNode.id}\n${connection.fromHandle.id ?? ""}` : "",
  );
  const flow = useFlow.getState().history.present;
  const connected = connectedFields(flow, id);
  const all = fieldsOf(document).filter((field) => field.show !== false);
  const shown = isOpen ? all : shownFields(document, connected);
  const hidden = all.length - shown.length;
  const [fromNode = "", fromPort = ""] = dragged.split("\n");
  const change = useFlow.getState().change;
  return (
    <article className={`node ${selected ? "selected" : ""} ${data.isChanged ? "changed" : ""} ${isPointedAt ? "pointed" : ""} ${running ?? ""}`} aria-label={titleOf(document)}>
      <header>
        <strong>{titleOf(document)}</strong>
        {titleOf(document) !== typeOf(document) && <small>{typeOf(document)}</small>}
      </header>
      {faults.length > 0 && <Faults faults={faults} />}
      {shown.map((field) => {
        const refused = dragged !== "" && refusal(flow, { node: fromNode, port: fromPort }, { node: id, port: field.name }) !== null;
        return (
          <div className={`port-row ${refused ? "refused" : ""}`} key={field.name}>
            {isPort(field) && (
              <Handle
                id={field.name}
                type="target"
                position={Position.Left}
                style={{ background: colourOf(field.input_types) }}
                title={`${labelOf(field)}: ${(field.input_types ?? []).join(", ")}`}
              />
            )}
            <FieldInput
              field={field}
              isConnected={connected.has(field.name)}
              onChange={(value, amends) => change(setField(useFlow.getState().history.present, id, field.name, value), { amends })}
            />
          </div>
        );
      })}
      {(hidden > 0 || isOpen) && (
        <button type="button" className="more nodrag" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? strings.less : strings.moreFields(hidden)}
        </button>
      )}
      {given !== undefined && (
        <details className="given nodrag">
          <summary>{strings.output}</summary>
          <pre tabIndex={0}>{summaryOf(given)}</pre>
        </details>
      )}
      {outputsOf(document).map((output) => (
        <div className="port-row output" key={output.name}>
          <span>{labelOf(output)}</span>
          <Handle
            id={output.name}
            type="source"
            position={Position.Right}
            style={{ background: colourOf(output.types) }}
            title={`${labelOf(output)}: ${(output.types ?? []).join(", ")}`}
          />
        </div>
      ))}
    </article>
  );
});
