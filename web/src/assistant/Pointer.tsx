import type { ReactNode } from "react";

import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";

/** What names a component: the canvas shows it while it is pointed at or has the focus, and goes there when it is pressed. */
export function Pointer({ node, children }: { node: string; children: ReactNode }) {
  const { point } = useFlow.getState();
  return (
    <button
      type="button"
      className="pointer"
      onPointerEnter={() => point(node)}
      onPointerLeave={() => point(null)}
      onFocus={() => point(node)}
      onBlur={() => point(null)}
      onClick={() => useCanvas.getState().goTo(node)}
    >
      {children}
    </button>
  );
}
