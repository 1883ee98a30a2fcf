/** Earlier inputs, recalled by the arrow keys: only at the ends of what is written, and the draft is never lost. */

export interface Recall {
  /** Which earlier input is shown; null for what the user writes. */
  at: number | null;
  draft: string;
}

/** What an arrow key recalls; null when it moves the cursor instead. */
export function recalled(
  direction: "up" | "down",
  text: string,
  [start, end]: [number, number],
  { at, draft }: Recall,
  inputs: readonly string[],
): { text: string; recall: Recall } | null {
  if (start !== end) return null;
  if (direction === "up") {
    if (text.slice(0, start).includes("\n")) return null;
    const next = (at ?? inputs.length) - 1;
    const found = inputs[next];
    return found === undefined ? null : { text: found, recall: { at: next, draft: at === null ? text : draft } };
  }
  if (at === null || text.slice(start).includes("\n")) return null;
  const found = inputs[at + 1];
  return found === undefined ? { text: draft, recall: { at: null, draft: "" } } : { text: found, recall: { at: at + 1, draft } };
}
