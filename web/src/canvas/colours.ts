/** One colour a port type, told apart by people who see few colours: hues differ, and so does how light they are. */

const COLOURS: Record<string, string> = {
  Message: "#4f46e5",
  Text: "#4f46e5",
  JSON: "#dc2626",
  Data: "#dc2626",
  Table: "#9d174d",
  DataFrame: "#9d174d",
  LanguageModel: "#c026d3",
  Tool: "#0e7490",
  Toolset: "#0e7490",
  Embeddings: "#059669",
  VectorStore: "#b45309",
  Retriever: "#b45309",
};

export function colourOf(types: readonly string[] | null | undefined): string {
  return COLOURS[types?.[0] ?? ""] ?? "#64748b";
}
