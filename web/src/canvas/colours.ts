/** One look a port type: a colour, a shape and a letter, so that nobody has to tell types apart by colour alone. */

export type Shape = "circle" | "square" | "diamond" | "hexagon" | "shield" | "triangle";

export interface Look {
  colour: string;
  shape: Shape;
  letter: string;
}

const LOOKS: Record<string, Look> = {
  Message: { colour: "#4f46e5", shape: "circle", letter: "M" },
  JSON: { colour: "#b91c1c", shape: "square", letter: "J" },
  Table: { colour: "#9d174d", shape: "square", letter: "T" },
  LanguageModel: { colour: "#a21caf", shape: "hexagon", letter: "L" },
  Tool: { colour: "#0e7490", shape: "diamond", letter: "T" },
  Embeddings: { colour: "#047857", shape: "shield", letter: "E" },
  VectorStore: { colour: "#a84c07", shape: "triangle", letter: "V" },
};

/** Types that are other names of one. */
const SAME: Record<string, string> = { Text: "Message", Data: "JSON", DataFrame: "Table", Toolset: "Tool", Retriever: "VectorStore" };

const OTHER: Omit<Look, "letter"> = { colour: "#475569", shape: "circle" };

export function lookOf(types: readonly string[] | null | undefined): Look {
  const type = types?.[0] ?? "";
  return LOOKS[SAME[type] ?? type] ?? { ...OTHER, letter: type.charAt(0).toUpperCase() };
}

export function colourOf(types: readonly string[] | null | undefined): string {
  return lookOf(types).colour;
}
