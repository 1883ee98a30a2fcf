/** What this browser remembers across reloads. A browser that stores nothing forgets, and all else works. */

import { mayHoldSecret } from "./secret";

interface Turn {
  session: string;
  turn: string;
}

/** What was sent with the turn that runs; this tab alone remembers it. */
interface Asked {
  turn: string;
  text: string;
  files: string[];
}

function read(key: string): unknown {
  try {
    const text = localStorage.getItem(key);
    return text === null ? null : JSON.parse(text);
  } catch {
    return null; // storage is blocked, or holds what another version wrote
  }
}

function write(key: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    isBlocked = true;
  }
}

let isBlocked = false;

/** What was sent since the page was loaded and is not remembered longer, each after the remembered input before it. */
const unkept: { text: string; after: string | undefined }[] = [];

function storedInputs(): string[] {
  return readList("wirewright.inputs").filter((one) => !mayHoldSecret(one));
}

/** The texts of a list; none where something else was stored. */
function readList(key: string): string[] {
  const found = read(key);
  return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
}

/** The texts by name; none where something else was stored. */
function readNamed(key: string): Record<string, string> {
  const found = read(key);
  if (typeof found !== "object" || found === null || Array.isArray(found)) return {};
  return Object.fromEntries(Object.entries(found).filter((one): one is [string, string] => typeof one[1] === "string"));
}

function sessions(): Record<string, string> {
  return readNamed("wirewright.sessions");
}

export const kept = {
  /** Whether the browser refused to remember something. */
  get isBlocked(): boolean {
    return isBlocked;
  },
  get turn(): Turn | null {
    const { session, turn } = readNamed("wirewright.turn");
    return session === undefined || turn === undefined ? null : { session, turn };
  },
  set turn(turn: Turn | null) {
    write("wirewright.turn", turn);
  },
  get asked(): Asked | null {
    try {
      return JSON.parse(sessionStorage.getItem("wirewright.asked") ?? "null") as Asked | null;
    } catch {
      return null; // storage is blocked, or holds what another version wrote
    }
  },
  set asked(asked: Asked | null) {
    try {
      if (asked === null || mayHoldSecret(asked.text)) sessionStorage.removeItem("wirewright.asked");
      else sessionStorage.setItem("wirewright.asked", JSON.stringify(asked));
    } catch {
      isBlocked = true;
    }
  },
  get language(): string | null {
    const found = read("wirewright.language");
    return typeof found === "string" ? found : null;
  },
  set language(language: string | null) {
    write("wirewright.language", language);
  },
  /** The conversation that belongs to a flow. */
  sessionOf(flow: string): string | null {
    return sessions()[flow] ?? null;
  },
  keepSession(flow: string, session: string): void {
    write("wirewright.sessions", { ...sessions(), [flow]: session });
  },
  /** The session in which a flow was tried last. */
  runSessionOf(flow: string): string | null {
    return readNamed("wirewright.tried")[flow] ?? null;
  },
  keepRunSession(flow: string, session: string): void {
    write("wirewright.tried", { ...readNamed("wirewright.tried"), [flow]: session });
  },
  /** Whether a conversation has a message that the server has stored. */
  isBegun(session: string): boolean {
    return readList("wirewright.begun").includes(session);
  },
  begin(session: string): void {
    const rest = readList("wirewright.begun").filter((one) => one !== session);
    write("wirewright.begun", [...rest, session].slice(-200));
  },
  /** The keys that go to the message field, such as `Alt+A`. */
  get shortcut(): string {
    const found = read("wirewright.shortcut");
    return typeof found === "string" ? found : "Alt+A";
  },
  set shortcut(keys: string) {
    write("wirewright.shortcut", keys);
  },
  get skipsAll(): boolean {
    return read("wirewright.skip-all") === true;
  },
  set skipsAll(on: boolean) {
    write("wirewright.skip-all", on);
  },
  /** The model that was chosen, as `provider:name`; null for the default. */
  get model(): string | null {
    const found = read("wirewright.model");
    return typeof found === "string" ? found : null;
  },
  set model(model: string | null) {
    write("wirewright.model", model);
  },
  /** Models that were named by hand, as `provider:name`. */
  get namedModels(): string[] {
    return readList("wirewright.models");
  },
  nameModel(model: string): void {
    write("wirewright.models", [...this.namedModels.filter((one) => one !== model), model].slice(-50));
  },
  /** What was sent before, the oldest first; what may hold a key only until the page is loaded again. */
  get inputs(): string[] {
    const inputs = storedInputs();
    for (const { text, after } of unkept) {
      const at = after === undefined ? -1 : inputs.lastIndexOf(after);
      inputs.splice(at + 1, 0, text);
    }
    return inputs;
  },
  keepInput(text: string): void {
    if (mayHoldSecret(text)) {
      const after = this.inputs.at(-1);
      if (after !== text) unkept.push({ text, after });
      write("wirewright.inputs", storedInputs()); // without those of earlier versions
      return;
    }
    const rest = storedInputs().filter((one) => one !== text);
    write("wirewright.inputs", [...rest, text].slice(-100));
  },
};

/** Forgets what belongs to the user, when they sign out: the next one at this browser is somebody else. */
export function forget(): void {
  unkept.length = 0;
  kept.asked = null;
  for (const key of ["inputs", "model", "models", "turn", "sessions", "tried", "begun"]) write(`wirewright.${key}`, null);
}
