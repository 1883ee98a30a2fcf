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
  const found = read("wirewright.inputs");
  return Array.isArray(found) ? found.filter((one): one is string => typeof one === "string" && !mayHoldSecret(one)) : [];
}

function sessions(): Record<string, string> {
  return (read("wirewright.sessions") as Record<string, string> | null) ?? {};
}

export const kept = {
  /** Whether the browser refused to remember something. */
  get isBlocked(): boolean {
    return isBlocked;
  },
  get turn(): Turn | null {
    return read("wirewright.turn") as Turn | null;
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
    return read("wirewright.language") as string | null;
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
    return ((read("wirewright.tried") as Record<string, string> | null) ?? {})[flow] ?? null;
  },
  keepRunSession(flow: string, session: string): void {
    write("wirewright.tried", { ...(read("wirewright.tried") as Record<string, string> | null), [flow]: session });
  },
  /** Whether a conversation has a message that the server has stored. */
  isBegun(session: string): boolean {
    return ((read("wirewright.begun") as string[] | null) ?? []).includes(session);
  },
  begin(session: string): void {
    const rest = ((read("wirewright.begun") as string[] | null) ?? []).filter((one) => one !== session);
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
    return (read("wirewright.models") as string[] | null) ?? [];
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
