import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";

import type { NodeDocument } from "../api/contract";
import { definitionOf } from "../flow/document";
import { Markdown } from "../ui/Markdown";

export type CanvasNote = Node<{ document: NodeDocument; isChanged: boolean }, "note">;

/** A note on the canvas. */
export const NoteNode = memo(function NoteNode({ data, selected }: NodeProps<CanvasNote>) {
  return (
    <aside className={`note ${selected ? "selected" : ""}`}>
      <Markdown text={definitionOf(data.document).description ?? ""} />
    </aside>
  );
});
