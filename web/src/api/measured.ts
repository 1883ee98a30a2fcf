/** What only the page can measure, reported now and then. A report that is lost is lost. */

import type { ClientMetricsRequest } from "../../../docs/contract/types";
import { kept } from "../state/kept";

type Metric = NonNullable<ClientMetricsRequest["metrics"]>[number];
type Happened = NonNullable<ClientMetricsRequest["events"]>[number];

const PATH = "/api/v1/agentic/client-metrics";
const WAIT_MILLISECONDS = 5_000;
const MOST = 100;

let metrics: Metric[] = [];
let events: Happened[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

/** Reports a figure with the next report. */
export function measured(metric: Metric): void {
  metrics = [...metrics, metric].slice(-MOST);
  later();
}

/** Reports how long it took to put an accepted proposal on the canvas, once it is drawn. */
export function applied(begun: number, nodes: number): void {
  requestAnimationFrame(() => measured({ name: "assistant_flow_apply_duration_ms", value: Math.round(performance.now() - begun), nodes }));
}

/** Reports something that happened with the next report. */
export function happened(event: Happened): void {
  events = [...events, event].slice(-MOST);
  later();
}

/** Reports at once what is not reported yet. */
export function report(): void {
  clearTimeout(timer);
  timer = undefined;
  if (metrics.length + events.length === 0) return;
  const body = JSON.stringify({ metrics, events });
  [metrics, events] = [[], []];
  // A page that is left may not wait for an answer, and nobody could do anything about a refusal.
  fetch(PATH, { method: "POST", body, keepalive: true, headers: { "content-type": "application/json" } }).catch(() => undefined);
}

/** Starts reporting: whether approvals are skipped, and later what happens. */
export function startReporting(): void {
  measured({ name: "assistant_skip_all_enabled_count", value: kept.skipsAll ? 1 : 0 });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") report();
  });
}

function later(): void {
  timer ??= setTimeout(report, WAIT_MILLISECONDS);
}
