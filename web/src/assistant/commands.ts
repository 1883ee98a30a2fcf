/** Commands of the message field. Only a message that is exactly one is a command; `/new idea` is a message. */

export const COMMANDS = ["/new", "/undo", "/redo", "/model", "/skip-all", "/help"] as const;

export type Command = (typeof COMMANDS)[number];

export function commandOf(text: string): Command | null {
  const wanted = text.trim();
  return COMMANDS.find((command) => command === wanted) ?? null;
}

/** What is written behind `/model`: one word, or nothing yet; null where it is no such command. */
export function modelWritten(text: string): string | null {
  return /^\/model[ \t]+(\S*)[ \t]*$/.exec(text)?.[1] ?? null;
}

/** The commands that what is written may become. */
export function completionsOf(text: string): readonly Command[] {
  return /^\/[a-z-]*$/.test(text) ? COMMANDS.filter((command) => command.startsWith(text) && command !== text) : [];
}
