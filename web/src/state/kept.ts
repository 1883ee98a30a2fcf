/** What this browser remembers across reloads. A browser that stores nothing forgets, and all else works. */

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
      if (asked === null) sessionStorage.removeItem("wirewright.asked");
      else sessionStorage.setItem("wirewright.asked", JSON.stringify(asked));
    } catch {
      isBlocked = true;
    }
  },
  /** The model that was chosen to answer; null for the usual one. */
  get model(): string | null {
    const found = read("wirewright.model");
    return typeof found === "string" ? found : null;
  },
  set model(model: string | null) {
    write("wirewright.model", model);
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
  get inputs(): string[] {
    return (read("wirewright.inputs") as string[] | null) ?? [];
  },
  /** Forgets an input that turned out to hold a key. */
  forgetInput(text: string): void {
    write("wirewright.inputs", this.inputs.filter((one) => one !== text));
  },
  keepInput(text: string): void {
    const rest = this.inputs.filter((one) => one !== text);
    write("wirewright.inputs", [...rest, text].slice(-100));
  },
};
