/** What the Tab key does in code. */

const STEP = "    ";

export interface Edited {
  text: string;
  start: number;
  end: number;
}

/** Code with the chosen lines indented by a step, or out by one; without a choice, a step where the cursor is. */
export function indented(text: string, start: number, end: number, isOut: boolean): Edited {
  if (start === end && !isOut) return { text: text.slice(0, start) + STEP + text.slice(end), start: start + STEP.length, end: start + STEP.length };
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const lines = text.slice(from, end).split("\n");
  const changed = lines.map((line) => (isOut ? line.replace(/^( {1,4}|\t)/, "") : line === "" ? line : STEP + line));
  const first = (changed[0]?.length ?? 0) - (lines[0]?.length ?? 0);
  const inner = changed.join("\n");
  return { text: text.slice(0, from) + inner + text.slice(end), start: Math.max(from, start + first), end: from + inner.length };
}
