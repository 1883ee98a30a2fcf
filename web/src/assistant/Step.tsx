import { useEffect, useState } from "react";

import { strings } from "../strings";

/** How long a step may take before its time is told, in seconds. */
const SHORT = 3;

/** What the assistant does now, and for how long, so that a long step does not look like a standstill. */
export function Step({ text, since }: { text: string; since: number | null }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = since === null ? 0 : Math.floor((now - since) / 1_000);
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
