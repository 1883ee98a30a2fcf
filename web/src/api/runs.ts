/** Runs of a stored flow: begun, followed and ended. */

import { ENDINGS, isLost, pause } from "./again";
import type { Fault, Schemas } from "./contract";
import { RequestFailed, framesOf, request, send } from "./http";

export type RunEvent =
  | Schemas["NodeStarted"]
  | Schemas["NodeFinished"]
  | Schemas["NodeToken"]
  | Schemas["RunComplete"]
  | Schemas["ModelWait"]
  | Schemas["EventsCut"]
  | Schemas["ErrorEvent"]
  | Schemas["CancelledEvent"];

/** A flow that was not run because of what is wrong with it. */
export class RunRefused extends RequestFailed {
  readonly faults: readonly Fault[];

  constructor({ error, faults }: Refusal) {
    const { code = "faults", message = "", fix = "" } = error ?? {};
    super({ status: 200, code, message, fix });
    this.faults = faults ?? [];
  }
}

/** What the server answers instead of an id. */
interface Refusal {
  error?: { code?: string; message?: string; fix?: string } | null;
  faults?: Fault[] | null;
}

/** Begins a run of a stored flow; returns its id. It goes on without this page.
 * @param input - what is said to it; null for the values that it has.
 * @param tweaks - values for this run alone, by component and field.
 * @throws RunRefused - something is wrong with the flow.
 */
export async function startRun(flow: string, input: string | null, session: string, tweaks: Record<string, Record<string, unknown>>): Promise<string> {
  const json = { input_value: input, session_id: session, tweaks, wait: false };
  const reply = await request<Schemas["RunStarted"] | Refusal>("POST", `/api/v1/flows/${encodeURIComponent(flow)}/run`, { json });
  if (!("id" in reply)) throw new RunRefused(reply);
  return reply.id;
}

/** Yields what happens in a run, from its beginning to its last event; it goes on by itself while the connection is lost.
 * @param onConnection - called when the connection is lost, and when it is back.
 */
export async function* followRun(run: string, onConnection: (connected: boolean) => void): AsyncGenerator<RunEvent> {
  let [seen, lost] = [0, 0];
  for (;;) {
    try {
      const response = await send("GET", `/api/v1/runs/${encodeURIComponent(run)}/events`);
      if (lost > 0) onConnection(true);
      if (response.body === null) return;
      let at = 0;
      for await (const event of framesOf<RunEvent>(response.body)) {
        lost = 0;
        const isLast = ENDINGS.has(event.event);
        at += 1;
        if (at <= seen && !isLast) continue; // the events come from the first again
        seen = at;
        yield event;
        if (isLast) return;
      }
    } catch (error) {
      if (!isLost(error)) throw error;
    }
    if (lost === 0) onConnection(false);
    await pause(lost);
    lost += 1;
  }
}

/** Ends a run that goes on. */
export async function cancelRun(run: string): Promise<void> {
  await send("POST", `/api/v1/runs/${encodeURIComponent(run)}/cancel`);
}
