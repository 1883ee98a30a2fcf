import { NodeResizer } from "@xyflow/react";
import type { Node, NodeProps } from "@xyflow/react";
import { Minus, Plus } from "lucide-react";
import { memo, useState } from "react";

import { definitionOf, textOf } from "../flow/document";
import { NOTE_COLOURS, noteColour, noteSize, resizeNote, setNote } from "../flow/edit";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Markdown } from "../ui/Markdown";
import { shortened } from "../ui/shortened";
import type { NodeData } from "./FlowNode";
import { isDrawnAlike } from "./drawing";

/** How small a note may be, and how much wider a press of a button makes it. */
const LEAST = { width: 200, height: 96 };
const STEP = 80;

export type CanvasNote = Node<NodeData, "note">;

/** A note on the canvas: Markdown that is written in its place, on paper of a colour. */
export const NoteNode = memo(function NoteNode({ id, data, selected }: NodeProps<CanvasNote>) {
  const isWritten = useCanvas((state) => state.renamed === id);
  const text = textOf(definitionOf(data.document).description) ?? "";
  const colour = noteColour(data.document);
  const put = (change: Parameters<typeof setNote>[2]) => {
    const { history, change: step } = useFlow.getState();
    step(setNote(history.present, id, change));
  };
  const resize = (size: Parameters<typeof resizeNote>[2]) => {
    const { history, change: step } = useFlow.getState();
    step(resizeNote(history.present, id, size));
  };
  const grow = (steps: number) => {
    const { x = 0, y = 0 } = data.document.position ?? {};
    const drawn = window.document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
    const [width, height] = [noteSize(data.document).width + steps * STEP, (drawn?.offsetHeight ?? 0) + (steps * STEP) / 2];
    resize({ x, y, width: Math.max(LEAST.width, width), height: Math.max(LEAST.height, height) });
  };
  return (
    <article
      className={`note ${selected ? "selected" : ""} ${data.fate ?? ""}`}
      data-colour={colour}
      aria-label={text === "" ? strings.note : `${strings.note}: ${shortened(text.split("\n", 1)[0] ?? "", 40)}`}
      onDoubleClick={() => useCanvas.getState().rename(id)}
    >
      {selected && !isWritten && (
        <NodeResizer minWidth={LEAST.width} minHeight={LEAST.height} onResizeEnd={(_, { x, y, width, height }) => resize({ x, y, width, height })} />
      )}
      {isWritten ? <NoteInput id={id} text={text} /> : text === "" ? <p className="hint">{strings.emptyNote}</p> : <Markdown text={text} />}
      {selected && !isWritten && (
        <div className="swatches nodrag" role="group" aria-label={strings.noteColour}>
          {NOTE_COLOURS.map((one) => (
            <button
              key={one}
              type="button"
              data-colour={one}
              aria-pressed={one === colour}
              aria-label={strings.noteColours[one]}
              title={strings.noteColours[one]}
              onClick={() => put({ colour: one })}
            />
          ))}
          <button type="button" className="tiny" aria-label={strings.smallerNote} title={strings.smallerNote} onClick={() => grow(-1)}>
            <Minus size={14} aria-hidden="true" />
          </button>
          <button type="button" className="tiny" aria-label={strings.largerNote} title={strings.largerNote} onClick={() => grow(1)}>
            <Plus size={14} aria-hidden="true" />
          </button>
        </div>
      )}
    </article>
  );
}, isDrawnAlike);

function NoteInput({ id, text }: { id: string; text: string }) {
  const [written, setWritten] = useState(text);
  const end = (isKept: boolean) => {
    if (useCanvas.getState().renamed !== id) return;
    const { history, change } = useFlow.getState();
    if (isKept && written !== text) change(setNote(history.present, id, { text: written }));
    useCanvas.getState().rename(null);
    window.document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
  };
  return (
    <textarea
      autoFocus
      className="nodrag nowheel"
      aria-label={strings.note}
      rows={Math.max(3, written.split("\n").length)}
      value={written}
      onChange={(event) => setWritten(event.target.value)}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) end(true);
      }}
    />
  );
}
