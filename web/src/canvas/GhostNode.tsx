import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";

import { isNote, isPort, labelOf, outputsOf, shownFields, textOf, titleOf, typeOf } from "../flow/document";
import { summaryOf } from "../flow/kinds";
import { definitionOf } from "../flow/document";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { shortened } from "../ui/shortened";
import type { NodeData } from "./FlowNode";
import { Port } from "./Port";
import { namesIn } from "./drawing";

export type CanvasGhost = Node<NodeData, "ghost">;

const MOST = 90;

/** A component that is only proposed: what it would be, and nothing to be changed in it yet. */
export const GhostNode = memo(function GhostNode({ id, data }: NodeProps<CanvasGhost>) {
  const { document } = data;
  const isPointedAt = useFlow((state) => state.pointedAt === id);
  const connected = namesIn(data.connected);
  const fields = shownFields(document, connected).filter((field) => isPort(field) || summaryOf(field.value) !== "");
  if (isNote(document)) return <aside className="note added">{textOf(definitionOf(document).description)}</aside>;
  return (
    <article className={`node added ${isPointedAt ? "pointed" : ""}`} aria-label={strings.toBeAdded(titleOf(document))}>
      <header>
        <strong dir="auto">{titleOf(document)}</strong>
        {titleOf(document) !== typeOf(document) && <small>{typeOf(document)}</small>}
        <span className="fate">{strings.isAdded}</span>
      </header>
      {fields.map((field) => (
        <div className="port-row" key={field.name}>
          {isPort(field) && <Port id={field.name} side="in" label={labelOf(field)} types={field.input_types ?? []} isConnectable={false} />}
          <div className="field">
            <span>{labelOf(field)}</span>
            {!connected.has(field.name) && summaryOf(field.value) !== "" && <ins className="value">{shortened(summaryOf(field.value), MOST)}</ins>}
          </div>
        </div>
      ))}
      {outputsOf(document).map((output) => (
        <div className="port-row output" key={output.name}>
          <span>{labelOf(output)}</span>
          <Port id={output.name} side="out" label={labelOf(output)} types={output.types ?? []} isConnectable={false} />
        </div>
      ))}
    </article>
  );
});
