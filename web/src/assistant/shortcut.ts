/** The keys that go to the message field: pressed keys as a text, such as `Ctrl+Shift+K`. */

const MODIFIERS = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph"]);

type Keys = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey">;

/** What was pressed; null without a modifier other than Shift, since letters alone are text. */
export function pressed(event: Keys): string | null {
  if (MODIFIERS.has(event.key) || !(event.ctrlKey || event.altKey || event.metaKey)) return null;
  const letter = /^(?:Key|Digit)(.)$/.exec(event.code)?.[1]; // Alt changes what a key writes
  const key = letter ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  const held = [event.ctrlKey && "Ctrl", event.altKey && "Alt", event.shiftKey && "Shift", event.metaKey && "Meta"];
  return [...held.filter(Boolean), key].join("+");
}
