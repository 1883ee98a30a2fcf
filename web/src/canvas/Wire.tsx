import { BaseEdge, EdgeLabelRenderer, getBezierPath } from "@xyflow/react";
import type { Edge, EdgeProps } from "@xyflow/react";
import { memo } from "react";

import { summaryOf } from "../flow/kinds";
import { useCanvas } from "../state/canvas";
import { strings } from "../strings";
import { shortened } from "../ui/shortened";

export type CanvasEdge = Edge<{ value?: unknown; name: string }, "wire">;

const SHORT = 22;

/** A connection that has carried a value in the last run: the value in short, and whole when it is opened. */
export const Wire = memo(function Wire({ data, style, selected, ...ends }: EdgeProps<CanvasEdge>) {
  const [path, x, y] = getBezierPath(ends);
  const text = summaryOf(data?.value).trim();
  const name = data?.name ?? "";
  return (
    <>
      <BaseEdge path={path} {...(style === undefined ? {} : { style })} />
      {text !== "" && (
        <EdgeLabelRenderer>
          <button
            type="button"
            className={`wire-value nodrag nopan ${selected === true ? "selected" : ""}`}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
            aria-label={strings.carried(name, shortened(text, SHORT))}
            title={strings.wholeValue}
            onClick={() => useCanvas.getState().look({ title: name, text })}
          >
            {shortened(text, SHORT)}
          </button>
        </EdgeLabelRenderer>
      )}
    </>
  );
});
