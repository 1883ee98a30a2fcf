/** The events of a turn: as they come, and again after the connection was lost. */

import { ENDINGS, isLost, pause } from "./again";
import type { AssistRequest, Event } from "./contract";
import { RequestFailed, framesOf, request, send } from "./http";

const STREAM = "/api/v1/agentic/assist/stream";

export interface TurnOptions {
  signal: AbortSignal;
  /** Called when the connection is lost, and when it is back. */
  onConnection?: (connected: boolean) => void;
}

/** Starts a turn and yields its events to the last; the turn goes on by itself while the connection is lost. */
export async function* startTurn(asked: AssistRequest & { turn_id: string }, options: TurnOptions): AsyncGenerator<Event> {
  const json = { ...asked, resumable: true, details: true };
  yield* resumed(asked.turn_id, 0, () => send("POST", STREAM, { json, signal: options.signal }), options);
}

/** Yields the events of a turn after the one with a number, to the last. */
export async function* followTurn(turn: string, after: number, options: TurnOptions): AsyncGenerator<Event> {
  yield* resumed(turn, after, () => events(turn, after, options.signal), options);
}

/** Stops a turn. */
export async function cancelTurn(turn: string): Promise<void> {
  await request("POST", `/api/v1/agentic/turns/${turn}/cancel`);
}

function events(turn: string, after: number, signal: AbortSignal): Promise<Response> {
  return send("GET", `/api/v1/agentic/turns/${turn}/events?after=${after}`, { signal });
}

async function* resumed(
  turn: string,
  after: number,
  first: () => Promise<Response>,
  { signal, onConnection }: TurnOptions,
): AsyncGenerator<Event> {
  let last = after;
  let lost = 0;
  let ask = first;
  let hasArrived = false;
  for (;;) {
    try {
      const response = await ask();
      hasArrived = true;
      if (lost > 0) onConnection?.(true);
      if (response.status === 204 || response.body === null) return;
      for await (const event of framesOf<Event>(response.body)) {
        lost = 0;
        if (event.sequence) {
          if (event.sequence <= last) continue;
          last = event.sequence;
        }
        yield event;
        if (ENDINGS.has(event.event)) return;
      }
    } catch (error) {
      if (ask !== first && !hasArrived && error instanceof RequestFailed && error.problem.status === 404) {
        ask = first; // the server has never heard of it
        continue;
      }
      if (signal.aborted || !isLost(error)) throw error;
    }
    if (lost === 0) onConnection?.(false);
    await pause(lost);
    lost += 1;
    ask = () => events(turn, last, signal);
  }
}
