import { strings } from "../../strings";
import type { Part } from "../parts";

const TOLD: Record<string, string> = { running: "…", failed: strings.failed, denied: strings.denied };

/** One call of a tool: a short line that opens to what it was given and what it answered. */
export function ToolTrace({ part, isRunning }: { part: Extract<Part, { kind: "tool" }>; isRunning: boolean }) {
  const state = part.result === null ? (isRunning ? "running" : "waiting") : part.denied === true ? "denied" : part.failed ? "failed" : "done";
  return (
    <details className={`tool ${state === "failed" ? "failed" : ""}`} data-state={state}>
      <summary>
        {part.name.replaceAll("_", " ")}
        {state in TOLD && <span className="hint"> {TOLD[state]}</span>}
      </summary>
      <pre tabIndex={0} aria-label={strings.given}>
        {JSON.stringify(part.arguments, null, 2)}
      </pre>
      {part.result !== null && (
        <pre tabIndex={0} aria-label={strings.output}>
          {part.result}
        </pre>
      )}
    </details>
  );
}
