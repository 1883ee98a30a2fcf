import { useEffect, useReducer } from "react";

import { strings } from "../strings";

/** How long a step may take before its time is told, in seconds. */
const SHORT = 3;

/** What the assistant does now, and for how long, so that a long step does not look like a standstill. */
export function Step({ text, since }: { text: string; since: number | null }) {
  const [, tick] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = since === null ? 0 : Math.floor((Date.now() - since) / 1_000);
  return (
    <p className="status">
      {text}
      {seconds >= SHORT && (
        <span className="elapsed" aria-hidden="true">
          {strings.elapsed(seconds)}
        </span>
      )}
    </p>
  );
}
