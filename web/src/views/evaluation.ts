/** What a line of a journal or of scores says, for a list. */

export interface ShownAttempt {
  title: string;
  detail: string;
  passed: boolean | null;
  scores: [string, string][];
}

/** The scenario and player of a line, whether it passed, and its scores; what it does not have is left out. */
export function attemptOf(entry: Record<string, unknown> | null): ShownAttempt {
  if (entry === null) return { title: "", detail: "", passed: null, scores: [] };
  const text = (key: string) => (typeof entry[key] === "string" ? (entry[key]) : "");
  const repeat = typeof entry["repeat"] === "number" ? `#${entry["repeat"] + 1}` : "";
  const scores = Array.isArray(entry["scores"]) ? (entry["scores"] as { name?: unknown; value?: unknown }[]) : [];
  return {
    title: [text("scenario"), repeat].filter(Boolean).join(" "),
    detail: [text("player"), text("harness_error")].filter(Boolean).join(" · "),
    passed: typeof entry["passed"] === "boolean" ? entry["passed"] : null,
    scores: scores.flatMap(({ name, value }): [string, string][] => (typeof name === "string" && value != null ? [[name, shown(value)]] : [])),
  };
}

function shown(value: unknown): string {
  if (value === true) return "✓";
  if (value === false) return "✗";
  return typeof value === "number" ? String(Math.round(value * 1000) / 1000) : JSON.stringify(value);
}
