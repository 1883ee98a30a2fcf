/** The name of a model however it was stored: as a name, as an object or a list, or as JSON of them, also repeatedly. */
export function modelName(value: unknown, depth = 0): string {
  if (depth > 8 || value === null || value === undefined) return "";
  if (typeof value === "string") {
    const text = value.trim();
    if (!/^[[{"]/.test(text)) return text;
    try {
      return modelName(JSON.parse(text), depth + 1);
    } catch {
      return text; // a name that only begins like JSON
    }
  }
  if (Array.isArray(value)) return value.map((one) => modelName(one, depth + 1)).filter(Boolean).join(", ");
  if (typeof value !== "object") return "";
  const { name, model, model_name: other } = value as Record<string, unknown>;
  return modelName(name ?? model ?? other, depth + 1);
}
