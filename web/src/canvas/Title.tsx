import { useState } from "react";

import type { NodeDocument } from "../api/contract";
import { titleOf } from "../flow/document";
import { rename } from "../flow/edit";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { strings } from "../strings";

/** The title of a component, renamed in its place: by a double click, by F2, or by the button of the selection. */
export function Title({ id, document }: { id: string; document: NodeDocument }) {
  const isRenamed = useCanvas((state) => state.renamed === id);
  const title = titleOf(document);
  if (isRenamed) return <TitleInput id={id} title={title} />;
  return <strong dir="auto" onDoubleClick={() => useCanvas.getState().rename(id)}>{title}</strong>;
}

function TitleInput({ id, title }: { id: string; title: string }) {
  const [text, setText] = useState(title);
  const end = (isKept: boolean) => {
    if (useCanvas.getState().renamed !== id) return;
    const { history, change } = useFlow.getState();
    const wanted = text.trim();
    if (isKept && wanted !== "" && wanted !== title) change(rename(history.present, id, wanted));
    useCanvas.getState().rename(null);
    window.document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
  };
  return (
    <input
      autoFocus
      dir="auto"
      className="nodrag rename"
      aria-label={strings.name}
      value={text}
      onFocus={(event) => event.target.select()}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter" || event.key === "Escape") end(event.key === "Enter");
      }}
    />
  );
}
