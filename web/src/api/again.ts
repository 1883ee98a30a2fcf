/** Trying again after the connection was lost. */

import { RequestFailed } from "./http";

const WAITS = [250, 1_000, 2_000, 4_000, 8_000];

/** Events after which no more come. */
export const ENDINGS: ReadonlySet<string> = new Set(["complete", "error", "cancelled"]);

/** Whether a request has failed because the connection was lost. */
export function isLost(error: unknown): boolean {
  const unreachable = error instanceof RequestFailed && error.problem.code === "unreachable";
  return unreachable || error instanceof TypeError; // what browsers throw when a body ends early
}

/** Waits before another try.
 * @param lost - how many tries in a row have failed.
 * @throws RequestFailed - these were enough.
 */
export async function pause(lost: number): Promise<void> {
  const wait = WAITS[lost];
  if (wait === undefined) throw new RequestFailed({ status: 0, code: "unreachable", message: "", fix: "" });
  await new Promise((resolve) => setTimeout(resolve, wait));
}
