/** How each kind of field that a component can have is edited. */

import type { Field } from "./document";

export type Kind =
  | "text"
  | "long"
  | "secret"
  | "number"
  | "slider"
  | "toggle"
  | "choice"
  | "choices"
  | "list"
  | "pairs"
  | "duration"
  | "prompt"
  | "code"
  | "table"
  | "file"
  | "model"
  | "json"
  | "read"
  | "port";

const NUMBERS: ReadonlySet<string> = new Set(["int", "float"]);
const TEXTS: ReadonlySet<string> = new Set(["str", "query", "Text", "link"]);

/** The way to edit a field. */
export function kindOf(field: Field): Kind {
  const kind = field.type ?? "str";
  const isList = field.list === true || field.is_list === true;
  if (kind === "table") return "table";
  if (kind === "file") return "file";
  if (kind === "model") return "model";
  if (kind === "prompt" || kind === "mustache") return "prompt";
  if (kind === "code") return "code";
  if (kind === "bool") return "toggle";
  if (kind === "slider") return "slider";
  if (kind === "duration") return "duration";
  if (kind === "sortableList") return field.limit === 1 ? "choice" : "choices";
  if (kind === "actionPicker") return "list";
  if (kind === "dict") return isPairs(field.value) ? "pairs" : "json";
  if (kind === "NestedDict" || kind === "mcp") return "json";
  if (kind === "data_display") return "read";
  if (namesOf(field.options).length > 0) return isList ? "choices" : "choice";
  if (NUMBERS.has(kind)) return "number";
  if (kind === "other") return isPlain(field.value) ? "port" : "json";
  if (isList && TEXTS.has(kind) && (Array.isArray(field.value) || !isPort(field))) return "list";
  if (!isPlain(field.value)) return "json";
  if (field.password === true) return "secret";
  if (field.multiline === true) return "long";
  return TEXTS.has(kind) || Array.isArray(field.options) ? "text" : isPort(field) ? "port" : "text";
}

/** Whether the server decides what else a value changes: ports of a template, fields of an option, how it is stored. */
export function isDecidedByServer(field: Field): boolean {
  const kind = kindOf(field);
  return field.real_time_refresh === true || field.load_from_db === true || ["prompt", "file", "model", "secret"].includes(kind);
}

/** The names of options, which are texts or objects with a name. */
export function namesOf(options: readonly unknown[] | null | undefined): string[] {
  return (options ?? []).flatMap((option) => {
    if (typeof option === "string") return [option];
    const name = typeof option === "object" && option !== null ? (option as { name?: unknown }).name : undefined;
    return typeof name === "string" ? [name] : [];
  });
}

/** What is chosen, by name. */
export function chosenOf(value: unknown): string[] {
  if (value === "" || value === null || value === undefined) return [];
  return namesOf(Array.isArray(value) ? value : [value]);
}

/** What is stored for options that are chosen by name: the options as they are in a sortable list, else their names. */
export function storedChoice(field: Field, names: readonly string[]): unknown {
  if (field.type !== "sortableList") return kindOf(field) === "choices" ? [...names] : (names[0] ?? "");
  const options = field.options ?? [];
  return names.map((name) => options.find((option) => namesOf([option])[0] === name) ?? { name });
}

export interface Column {
  name: string;
  label: string;
  type: string;
  options: string[];
  initial: unknown;
}

/** The columns of a table field; those of its first row where no schema says them. */
export function columnsOf(field: Field): Column[] {
  const schema = field.table_schema;
  const listed = Array.isArray(schema) ? schema : ((schema as { columns?: unknown[] } | null | undefined)?.columns ?? []);
  const columns = listed.flatMap((one) => {
    const { name, display_name, type, options, default: initial } = one as Record<string, unknown>;
    if (typeof name !== "string") return [];
    const label = typeof display_name === "string" ? display_name : name;
    return [{ name, label, type: typeof type === "string" ? type : "str", options: namesOf(options as unknown[]), initial }];
  });
  const [first] = rowsOf(field.value);
  if (columns.length > 0 || first === undefined) return columns;
  return Object.keys(first).map((name) => ({ name, label: name, type: "str", options: [], initial: "" }));
}

/** The rows of a table field. */
export function rowsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((row): row is Record<string, unknown> => typeof row === "object" && row !== null && !Array.isArray(row)) : [];
}

/** A value that has no control of its own, in a few words; a model by its name, also where its name holds all of it. */
export function summaryOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(summaryOf).join(", ");
  if (typeof value === "object") {
    const { name, provider, text } = value as { name?: unknown; provider?: unknown; text?: unknown };
    if (typeof name === "string") {
      const inner = parsed(name);
      if (inner !== null) return summaryOf(inner);
      return typeof provider === "string" && provider !== "" && provider !== "Unknown" ? `${provider}: ${name}` : name;
    }
    return typeof text === "string" ? text : JSON.stringify(value);
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The object or list in a text that is JSON of one; null for other texts. */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null; // a name that only begins like JSON
  }
}

function isPort(field: Field): boolean {
  return (field.input_types?.length ?? 0) > 0;
}

function isPlain(value: unknown): boolean {
  return value === undefined || value === null || typeof value !== "object";
}

function isPairs(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return typeof value === "object" && !Array.isArray(value) && Object.values(value).every((one) => typeof one === "string");
}
